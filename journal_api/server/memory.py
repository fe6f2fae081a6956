"""Memory that glibc keeps for the next large answer."""

import ctypes
import sys

# Of malloc.h, and as many bytes as the largest usual answers take in all their forms.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3


KEPT = 4 * 1024 * 1024


def keep_freed_memory() -> None:
    """Have glibc keep what an answer leaves free for the next one.

    Otherwise it is given back, and asked for again page by page (DECISIONS 56).
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(M_TRIM_THRESHOLD, KEPT)
        mallopt(M_MMAP_THRESHOLD, KEPT)
