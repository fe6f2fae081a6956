"""Generated projects: programs that run in their folder, and the packages of a package.json."""

import shutil
import subprocess
from pathlib import Path

import pytest
from commands import PATIENCE, Completed, environment

from journal_api.openapi.docs_page import read_document

OLDEST_NODE = 20
INSTALL = ("install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-update-notifier", "--no-package-lock")


def run(
    folder: Path, *arguments: str | Path, settings: dict[str, str] | None = None, timeout: float = 2 * PATIENCE
) -> Completed:
    """What a program says that is run in the folder."""
    ran = subprocess.run(
        arguments,
        cwd=folder,
        env=environment(settings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Completed(ran.returncode, ran.stdout, ran.stderr)


def install_project(sources: Path, folder: Path) -> Path:
    """Copy the sources to the folder, beside the document and their packages; skip the test without npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        pytest.skip("Node.js and npm are not installed")
    shutil.copytree(sources, folder)
    version = run(folder, node, "--version").out.strip()
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node.js {version} is older than {OLDEST_NODE}")
    (folder / "openapi.json").write_bytes(read_document())
    try:
        installed = run(folder, npm, *INSTALL)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm installed nothing within {2 * PATIENCE} seconds")
    if installed.code:
        pytest.skip(f"npm cannot install the packages: {installed.err}")
    return folder
