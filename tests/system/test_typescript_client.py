"""A client by openapi-typescript and openapi-fetch, with their default options, talks to a running server.

typescript/client.ts is the client, typescript/package.json has the versions. The packages are installed into
a temporary folder; without Node.js, or without a registry that npm can reach, the test is skipped. It runs in
`make soak` alone: `make lint` generates the types and compiles the page with them.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import PATIENCE, Completed, environment, new_key, running
from openapi_examples import FILES
from proofs import SOAK

from journal_api.openapi.docs_page import read_document

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not SOAK, reason="npm installs packages for half a minute"),
]
SOURCES = Path(__file__).with_name("typescript")
OLDEST_NODE = 20
INSTALL = (
    "install",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--no-update-notifier",
    "--no-package-lock",
)


def run(folder: Path, *arguments: str | Path, settings: dict[str, str] | None = None) -> Completed:
    """What a program says that is run in the folder."""
    ran = subprocess.run(
        arguments,
        cwd=folder,
        env={**os.environ, **(settings or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    return Completed(ran.returncode, ran.stdout, ran.stderr)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the client, the document and the packages."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        pytest.skip("Node.js and npm are not installed")
    version = run(tmp_path, node, "--version").out.strip()
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node.js {version} is older than {OLDEST_NODE}")
    folder = tmp_path / "client"
    shutil.copytree(SOURCES, folder)
    (folder / "openapi.json").write_bytes(read_document())
    try:
        installed = run(folder, npm, *INSTALL)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm installed nothing within {2 * PATIENCE} seconds")
    if installed.code:
        pytest.skip(f"npm cannot install the packages: {installed.err}")
    return folder


def test_a_client_in_typescript_compiles_and_does_its_work(project: Path, tmp_path: Path) -> None:
    packages = project / "node_modules"
    generator = packages / "openapi-typescript/bin/cli.js"
    generated = run(project, "node", generator, "openapi.json", "--output", "schema.d.ts")
    assert generated.code == 0, generated
    compiled = run(project, "node", packages / "typescript/bin/tsc", "--project", ".")
    assert compiled == Completed(0, "", "")

    db = tmp_path / "journal.db"
    with running(db) as server:
        settings = {"JOURNAL_URL": server.url, "JOURNAL_KEY": new_key(db), "JOURNAL_CSV": FILES["text/csv"]}
        ran = run(project, "node", "compiled/client.js", settings=environment() | settings)

    assert ran == Completed(0, "done\n", "")
