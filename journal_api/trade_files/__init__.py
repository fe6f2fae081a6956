"""From the bytes of a file to the fills and trades that it states; formats are in formats/ and profiles/."""
