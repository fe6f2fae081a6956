"""The report of an import: a verdict for every row."""

from array import array

from msgspec import json

from journal_api.structs.imports import Verdict


class Rows:
    """The verdicts as they are answered, encoded at once: kept as structs they take much more room."""

    def __init__(self) -> None:
        self.text = bytearray(b"[")
        self.lines, self.begins = array("q"), array("q")
        self.is_in_order = True

    def add(self, verdicts: list[Verdict]) -> None:
        for one in verdicts:
            self.is_in_order &= not self.lines or self.lines[-1] <= one.line
            self.lines.append(one.line)
            self.begins.append(len(self.text))
            self.text += b"%b," % json.encode(one)

    def encoded(self) -> bytearray:
        """A JSON array in the order of the lines."""
        if not self.is_in_order:
            ends = [*self.begins[1:], len(self.text)]
            order = sorted(range(len(self.lines)), key=self.lines.__getitem__)
            self.text[1:] = b"".join(self.text[self.begins[one] : ends[one]] for one in order)
        if self.lines:
            self.text.pop()  # the last comma
        self.text += b"]"
        return self.text
