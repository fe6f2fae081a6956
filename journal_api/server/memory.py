"""Settings of memory: glibc keeps what is freed, and Python looks for garbage less often.

By default glibc returns the memory of a large response to the system and requests it again page by page,
which takes four times as long as encoding 200 KB of JSON (DECISIONS 56). The module calls `mallopt` of the C
library through ctypes, with M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h, which are documented in
mallopt(3). Where there is no `mallopt` (musl, macOS, Windows), it does nothing. tests/unit/test_memory.py
fails if glibc rejects the call.

By default Python looks for unreachable cycles after 700 new objects, and again and again among all objects of
the process. A batch of an import makes thousands of objects and no cycles (DECISIONS 124).
"""

import ctypes
import gc
import sys

# Constants of malloc.h.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3

# Bytes: more than a usual large response needs in all its representations together.
KEPT_BYTES = 4 * 1024 * 1024

# As garbage, so many objects take a megabyte or two.
OBJECTS = 10_000


def keep_freed_memory() -> bool | None:
    """Raise glibc's thresholds; return whether it accepted both, None where there is no `mallopt`."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is None:
        return None
    # mallopt returns 1 for success.
    accepted = [mallopt(option, KEPT_BYTES) for option in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD)]
    return all(accepted)


def collect_garbage_less_often() -> None:
    """Look for garbage after OBJECTS new objects, and not among those that exist now."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS, 10, 10)
