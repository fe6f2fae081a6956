"""Wheels of the distribution, and environments in which a wheel is installed as users install it."""

import os
import subprocess
import sys
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


def build_wheel(source: Path, folder: Path) -> Path:
    """Build the wheel of that checkout into the folder."""
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, cwd=source)
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment_with(wheel: Path, folder: Path) -> None:
    """Make an environment without pip, in which the wheel is installed without the packages that it needs."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin/python", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "--no-compile", "--no-deps", wheel, cwd=folder.parent)
