"""IANA time zones: their names, and the zone of this machine."""

import logging
import os
from functools import cache
from importlib.resources import files

import tzlocal

# Where /etc/timezone contradicts /etc/localtime, or merely exists, tzlocal would warn in every command.
logging.getLogger("tzlocal").setLevel(logging.ERROR)
NO_ZONE = "Factory"  # tzdata's placeholder for a machine that is not configured


@cache
def time_zones() -> frozenset[str]:
    """Return the names of tzdata's zones: zoneinfo may list `localtime` and `posixrules` too."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="utf-8").split()) - {NO_ZONE}


def machine_time_zone() -> str:
    """Return the zone of this machine, UTC if its configuration names none or several."""
    of_environment = os.environ.get("TZ", "").removeprefix(":")
    if of_environment in time_zones():  # tzlocal does not know all of them
        return of_environment
    try:
        name = tzlocal.get_localzone_name()
    except (LookupError, ValueError, OSError):
        return "UTC"
    return name if name in time_zones() else "UTC"
