"""The folder whose files are imported by themselves: which files are whole, and where they go afterwards.

It is looked at every two seconds, because network drives announce no files, and a file is whole once
its size has stood still for two seconds in any case. An import commits before its file is moved: a
server that is killed in between imports duplicates, which change nothing.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

IMPORTED, REFUSED = "imported", "refused"
# What browsers and other programs call a file that they have not finished.
UNFINISHED = (".part", ".partial", ".crdownload", ".download", ".tmp", "~")

MAX_NAME_BYTES = 255  # of a file, on every file system in use
MAX_SUFFIX_LENGTH = 20  # what is longer is part of the name


class FoundFile(NamedTuple):
    """A file as it was at a look; `subfolder` is empty, or the name of an account."""

    modified: int
    size: int
    path: Path
    subfolder: str


class WatchedFolder:
    """Remembers how the files of a folder were at the last look, and which of them are to stay there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen, self._left = set[FoundFile](), set[FoundFile]()

    def find_whole(self) -> list[FoundFile]:
        """Return the files with content that are as they were at the last look, the oldest first."""
        before, self._seen = self._seen, {file for file in list_files(self.path) if file.size}
        self._left &= self._seen
        return sorted((before & self._seen) - self._left)

    def leave(self, file: FoundFile) -> None:
        """Do not return the file again until it changes."""
        self._left.add(file)

    def put_away(self, file: FoundFile, kind: str, reasons: Sequence[str] = ()) -> None:
        """Move the file to the folder of that kind, with reasons beside it if there are any.

        A file that has changed since it was found goes back, and a later look returns it. A file that cannot
        be moved is left. Raises OSError.
        """
        self.leave(file)
        folder = self.path / kind / file.subfolder
        folder.mkdir(parents=True, exist_ok=True)
        moved = move(file.path, folder)
        self._left.discard(file)
        if read_state(moved) != (file.modified, file.size):
            move(moved, file.path.parent)
        elif reasons:
            text = "".join(f"{reason}\n" for reason in reasons)
            reserve_name(folder, f"{moved.name}.txt").write_text(text, encoding="utf-8", errors="replace")


def list_files(folder: Path, subfolder: str = "") -> Iterator[FoundFile]:
    """Yield the files of a folder and its subfolders, without links and hidden or unfinished files."""
    with os.scandir(folder / subfolder) as entries:
        for entry in entries:
            name = entry.name.lower()
            if name.startswith((".", "~")) or name.endswith(UNFINISHED) or name in (IMPORTED, REFUSED):
                continue
            if entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    path = Path(entry.path)
                    yield FoundFile(*read_state(path), path, subfolder)
            elif not subfolder and entry.is_dir(follow_symlinks=False):
                yield from list_files(folder, entry.name)


def read_state(path: Path) -> tuple[int, int]:
    """Return what changes with the content: the time of the last change, and the size."""
    status = path.lstat()
    return status.st_mtime_ns, status.st_size


def move(path: Path, folder: Path) -> Path:
    """Move a file into a folder, under a name with a number if its name is taken, and return its path."""
    target = reserve_name(folder, path.name)
    try:
        return path.replace(target)
    except OSError:
        target.unlink()
        raise


def reserve_name(folder: Path, name: str) -> Path:
    """Create an empty file with that name, or with a number in it: a move replaces what has the name."""
    for number in count(1):
        target = folder / number_name(name, number)
        with suppress(FileExistsError):
            target.touch(exist_ok=False)
            return target
    raise AssertionError("there is always another number")


def number_name(name: str, number: int) -> str:
    """Return the name with the number before its suffix unless it is 1, shortened to MAX_NAME_BYTES."""
    stem, suffix = os.path.splitext(name)
    if len(suffix) > MAX_SUFFIX_LENGTH:
        stem, suffix = name, ""
    end = suffix if number == 1 else f"-{number}{suffix}"
    while len(os.fsencode(stem + end)) > MAX_NAME_BYTES:
        stem = stem[:-1]
    return stem + end
