"""The settings of glibc's allocator."""

import subprocess
import sys


def test_glibc_accepts_the_thresholds() -> None:
    code = "from journal_api.server.memory import keep_freed_memory; print(keep_freed_memory())"

    # In a process of its own, because the setting cannot be undone.
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert answer.stdout in ("True\n", "None\n")
