"""The report of an import: the verdicts of all rows as JSON."""

from array import array

from msgspec import json

from journal_api.structs.imports import Verdict


class EncodedVerdicts:
    """The verdicts as JSON. They are encoded when they are added, because structs take much more memory."""

    def __init__(self) -> None:
        self.text = bytearray(b"[")
        self.lines, self.begins = array("q"), array("q")
        self.is_in_order = True

    def add(self, verdicts: list[Verdict]) -> None:
        for verdict in verdicts:
            self.is_in_order &= not self.lines or self.lines[-1] <= verdict.line
            self.lines.append(verdict.line)
            self.begins.append(len(self.text))
            self.text += b"%b," % json.encode(verdict)

    def encoded(self) -> bytearray:
        """Return a JSON array in the order of lines. Nothing can be added afterwards."""
        if not self.is_in_order:
            ends = [*self.begins[1:], len(self.text)]
            order = sorted(range(len(self.lines)), key=self.lines.__getitem__)
            self.text[1:] = b"".join(self.text[self.begins[index] : ends[index]] for index in order)
        if self.lines:
            self.text.pop()  # the last comma
        self.text += b"]"
        return self.text
