"""The formats of trade files, one module per format."""
