"""The folder whose files are imported by themselves: which files are whole, and where they go afterwards.

It is looked at every two seconds instead of being watched by the operating system (DECISIONS 52).
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

IMPORTED, REFUSED = "imported", "refused"
# What browsers and other programs call a file that they have not finished.
UNFINISHED = (".part", ".partial", ".crdownload", ".download", ".tmp", "~")


class FileState(NamedTuple):
    """What changes with the content of a file."""

    modified: int
    size: int

    @classmethod
    def of(cls, status: os.stat_result) -> "FileState":
        return cls(status.st_mtime_ns, status.st_size)


class FoundFile(NamedTuple):
    """A file of the folder; `subfolder` is empty, or the name of an account."""

    path: Path
    subfolder: str
    state: FileState


class WatchedFolder:
    """Remembers how the files of a folder were at the last look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: dict[Path, FileState] = {}
        self._left: dict[Path, FileState] = {}

    def find_whole(self) -> list[FoundFile]:
        """Return the files with content that are as they were at the last look, the oldest first."""
        found = [file for file in self._list_files() if file.state.size]
        whole = [file for file in found if self._seen.get(file.path) == file.state]
        self._seen = {file.path: file.state for file in found}
        self._left = {path: state for path, state in self._left.items() if self._seen.get(path) == state}
        whole = [file for file in whole if file.path not in self._left]
        return sorted(whole, key=lambda file: (file.state.modified, file.path))

    def _list_files(self) -> Iterator[FoundFile]:
        """Yield the files of the folder and of its subfolders."""
        for entry in list_entries(self.path):
            if entry.name in (IMPORTED, REFUSED):
                continue
            if entry.is_file(follow_symlinks=False):
                yield from find_file(entry)
            elif entry.is_dir(follow_symlinks=False):
                for inner in list_entries(entry.path):
                    if inner.is_file(follow_symlinks=False):
                        yield from find_file(inner, entry.name)

    def leave(self, file: FoundFile) -> None:
        """Do not return the file again until it changes."""
        self._left[file.path] = file.state

    def put_away(self, file: FoundFile, kind: str, reason: str | None = None) -> None:
        """Move the file to the folder of that kind, with its reason beside it.

        A file that has changed since it was read goes back, and a later look returns it. A file that cannot
        be moved is left. Raises OSError.
        """
        self.leave(file)
        folder = self.path / kind / file.subfolder
        folder.mkdir(parents=True, exist_ok=True)
        moved = move(file.path, folder)
        del self._left[file.path]
        if moved is None:
            return
        if FileState.of(moved.stat()) != file.state:
            move(moved, file.path.parent)
        elif reason is not None:
            reason_file(moved).write_text(f"{reason}\n", encoding="utf-8", errors="replace")


def list_entries(folder: Path | str) -> "Iterator[os.DirEntry[str]]":
    """Yield what is in a folder but hidden and unfinished files."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith((".", "~")) and not entry.name.lower().endswith(UNFINISHED):
                yield entry


def find_file(entry: "os.DirEntry[str]", subfolder: str = "") -> Iterator[FoundFile]:
    """Yield the file, unless it has just been moved. What a DirEntry knows may be old on Windows."""
    with suppress(FileNotFoundError):
        yield FoundFile(Path(entry.path), subfolder, FileState.of(os.lstat(entry.path)))


def move(path: Path, folder: Path) -> Path | None:
    """Move a file into a folder and return its new path, None if another program has moved it."""
    target = reserve_name(path, folder)
    try:
        return path.replace(target)
    except OSError as error:
        target.unlink()
        if isinstance(error, FileNotFoundError):
            return None
        raise


def reserve_name(path: Path, folder: Path) -> Path:
    """Create an empty file with the name of `path`, or with a number in it if the name is taken.

    A move replaces what has the name, so two moves at once must not choose the same.
    """
    target, number = folder / path.name, 1
    while True:
        with suppress(FileExistsError):
            if not reason_file(target).exists():
                target.touch(exist_ok=False)
                return target
        number += 1
        target = folder / f"{path.stem}-{number}{path.suffix}"


def reason_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.txt")
