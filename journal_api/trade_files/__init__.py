"""Import and export of trade files; one module per format in formats/."""
