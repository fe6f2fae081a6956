"""Python looks for garbage less often.

By default it looks for unreachable cycles after 700 new objects, and again and again among all objects of the
process. A batch of an import makes thousands of objects and no cycles (DECISIONS 25).
"""

import gc

# As garbage, so many objects take a megabyte or two.
OBJECTS = 10_000


def collect_garbage_less_often() -> None:
    """Look for garbage after OBJECTS new objects, and not among those that exist now."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS, 10, 10)
