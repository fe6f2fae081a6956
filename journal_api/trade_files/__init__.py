"""Trades in and out of files: reading, matching, importing, exporting; a module a format in formats/."""
