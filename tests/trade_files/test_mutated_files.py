"""Samples of every format, changed at random: a file is read, or refused with a reason, whatever is in it."""

import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from file_tables import SAMPLES, read_rows, workbook
from proofs import examples

from journal_api.errors import ValidationFailed
from journal_api.trade_files.profiles.proposal import propose_profile

MAX_SIZE = 2 * 1024 * 1024
TOKENS = (
    *(b"\0", b"\xff", b'"', b",", b";", b"\t", b"\n", b"\r", b"\xf0\x9f\x98\x80", b"\xe2\x80\xae", b"\xff\xfe"),
    *(b"9" * 5000, b"1e999", b"NaN", b"-1", b"2026-02-30", b"x" * 70_000, b"&#9", b"<tr>", b"<td colspan=999>"),
    *(b"<Trade ", b"<!DOCTYPE x>", b'<row r="2000000000">', b'<c r="ZZZ1" t="s"><v>-1</v></c>', b"<si/>"),
    *(b'<c t="d"><v>x</v></c>', b'<c s="99"><v>1e308</v></c>', b'<c s="1"><v>99999999999</v></c>', b'r="A0"'),
)
TAG = re.compile(rb"<[^<>]+>")


def mutate(content: bytes, random: Random) -> bytes:
    """Change some bytes, repeat, move or cut some, or put something in between."""
    changed = bytearray(content)
    for _ in range(random.choice((1, 2, 4, 16))):
        at, length = random.randrange(len(changed) + 1), random.choice((1, 4, 16, 200))
        piece = bytes(changed[at : at + length])
        changed[at : at + length] = random.choice(
            (
                *(b"", piece * random.choice((2, 50, 1000)), random.randbytes(length)),
                *(random.choice(TOKENS), random.choice(TOKENS) * random.choice((1, 100)) + piece),
            )
        )
    return bytes(changed[: random.choice((at, MAX_SIZE, MAX_SIZE))])


def mutate_tags(content: bytes, random: Random) -> bytes:
    """Put something in the place of a tag of XML, once or everywhere."""
    tags = TAG.findall(content)
    new = random.choice((random.choice(tags) * random.choice((0, 1, 2, 30_000)), random.choice(TOKENS)))
    return content.replace(random.choice(tags), new[:MAX_SIZE], random.choice((1, 1, 5)))


def mutate_workbook(content: bytes, random: Random) -> bytes:
    """Change a part of an Excel file, or the archive."""
    if random.random() < 0.2:
        return mutate(content, random)
    file, change = io.BytesIO(), random.choice((mutate, mutate_tags))
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        part = random.choice(old.namelist())
        for name in old.namelist():
            new.writestr(name, change(old.read(name), random) if name == part else old.read(name))
    return file.getvalue()


def list_samples() -> Iterator[tuple[str, Path]]:
    """The samples of all formats, and those of CSV as Excel files."""
    for path in sorted(SAMPLES.glob("*")):
        if path.suffix in (".csv", ".html", ".xml", ".txt"):
            yield path.name, path
        if path.suffix == ".csv" and path.read_bytes().isascii():
            yield f"{path.stem}.xlsx", path


LISTED = dict(list_samples())


@pytest.mark.soak
@pytest.mark.promise(19)
@pytest.mark.parametrize("name", LISTED)
def test_a_sample_changed_anywhere_is_read_or_refused_with_a_reason(name: str) -> None:
    sample, change = LISTED[name].read_bytes(), mutate
    if name.endswith(".xlsx"):
        sample = workbook([line.split(",") for line in sample.decode().splitlines()])
        change = mutate_workbook
    for seed in range(examples(full=200, ci=1)):
        content = change(sample, Random(f"{name} {seed}"))
        with suppress(ValidationFailed):
            read_rows(content)
        propose_profile(io.BytesIO(content))
