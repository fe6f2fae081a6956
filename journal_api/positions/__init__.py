"""From fills to positions, claims, copies and merges: pure."""
