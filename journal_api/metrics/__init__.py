"""Metrics and groupings, an entry each, and the formulas and intervals of which entries are made."""
