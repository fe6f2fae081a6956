"""The settings of memory."""

import subprocess
import sys


def test_garbage_is_looked_for_among_new_objects_only() -> None:
    code = (
        "import gc; from journal_api.server.memory import collect_garbage_less_often as settle; settle();"
        "print(gc.get_threshold()[0] >= 10_000, gc.get_freeze_count() > 1000)"
    )

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert answer.stdout == "True True\n"
