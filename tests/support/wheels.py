"""What a wheel is built from, and programs that run without the settings of this test run."""

import os
import subprocess
from pathlib import Path

SOURCES = ("pyproject.toml", "README.md", "LICENSE", "schema.sql", "docs", "journal_api")
MINUTES = 300  # seconds; never reached unless something hangs


def run(*arguments: str | Path, cwd: Path, **settings: str) -> str:
    """The output of a command that succeeds, in an environment without the settings of this test run."""
    mine = ("PYTHON", "PYTEST", "JOURNAL_", "COV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    ran = subprocess.run(
        arguments, cwd=cwd, env=kept | settings, capture_output=True, text=True, timeout=MINUTES, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
