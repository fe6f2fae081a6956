"""Wheels of the distribution, and environments in which a wheel is installed as users install it."""

import os
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

DISTRIBUTION = "trading-journal-api"
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "schema.sql", "journal_api")
MINUTES = 300  # seconds; never reached unless something hangs


def run(*arguments: str | Path, cwd: Path, **settings: str) -> str:
    """The output of a command that succeeds, in an environment without the settings of this test run."""
    mine = ("PYTHON", "PYTEST", "JOURNAL_", "COV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    ran = subprocess.run(
        arguments,
        cwd=cwd,
        env=kept | settings,
        capture_output=True,
        text=True,
        timeout=MINUTES,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def build_wheel(source: Path, folder: Path) -> Path:
    """Build the wheel of that checkout into the folder."""
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, cwd=source)
    (wheel,) = folder.glob("*.whl")
    return wheel


def constraints_beside(folder: Path) -> Path:
    """Write constraints for pip: every package in the version of this environment."""
    versions = {f"{package.name}=={package.version}\n" for package in distributions()}
    constraints = folder.with_suffix(".txt")
    constraints.write_text(
        "".join(line for line in sorted(versions) if not line.startswith(f"{DISTRIBUTION}=="))
    )
    return constraints


def environment_with(requirement: str, folder: Path, *options: str) -> Path:
    """The interpreter of a new environment without pip, in which the requirement is installed."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    inside = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = (sys.executable, "-m", "pip", "--python", inside, "--disable-pip-version-check")
    pinned = ("--constraint", constraints_beside(folder))
    run(*pip, "install", "--quiet", "--no-compile", requirement, *pinned, *options, cwd=folder.parent)
    return inside
