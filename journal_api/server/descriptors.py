"""How many connections the server keeps, by the number of files that the process may open."""

import sys
from contextlib import suppress

if sys.platform != "win32":
    import resource

MAX_CONNECTIONS = 2000
# Files of a connection: its socket, a temporary file, and the database and its log for a transaction.
FILES_OF_A_CONNECTION = 4
# Files of everything else: the database, the log, backups, the files that a report sorts.
RESERVED_FILES = 64
FILES = MAX_CONNECTIONS * FILES_OF_A_CONNECTION + RESERVED_FILES


def raise_file_limit() -> int:
    """Raise the limit of open files as far as needed and allowed; return how many connections it is for."""
    if sys.platform == "win32":
        return MAX_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= FILES:
        return MAX_CONNECTIONS
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return max(1, (soft - RESERVED_FILES) // FILES_OF_A_CONNECTION)
