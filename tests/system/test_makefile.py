"""What the targets of the Makefile install before they begin."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def commands_of(target: str) -> list[str]:
    """The commands of the target in a checkout without an environment, which are printed and not run."""
    arguments = ("make", "--dry-run", "--always-make", "--no-print-directory", target)
    ran = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return ran.stdout.splitlines()


def installed_by(target: str) -> list[str]:
    """What the target installs with pip, in order."""
    installations = [line.partition(" pip install ")[2] for line in commands_of(target)]
    return [line.split("check ")[1] for line in installations if line]


def test_run_installs_the_service_and_nothing_else() -> None:
    assert installed_by("run") == ["--editable ."]


def test_run_names_each_step() -> None:
    steps = [line for line in commands_of("run") if line.startswith("echo ")]

    assert steps == [
        'echo "Creating .venv ..."',
        'echo "Installing the service ..."',
        'echo "Starting the journal ..."',
    ]


@pytest.mark.parametrize("target", ["test", "lint", "format", "soak", "bench", "openapi", "install"])
def test_tests_and_checks_install_the_group_for_development_too(target: str) -> None:
    assert installed_by(target) == ["--editable .", '--upgrade "pip>=25.1"', "--group dev"]
