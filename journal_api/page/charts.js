// Charts: small functions that make SVG. Every chart has a text that says the same.
