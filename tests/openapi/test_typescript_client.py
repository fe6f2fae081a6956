"""A client by openapi-typescript and openapi-fetch, with their default options, talks to a running server.

typescript/client.ts is the client, typescript/package.json has the versions. The packages are installed into
a temporary folder; without Node.js, or without a registry that npm can reach, the test is skipped. It runs in
`make soak` alone: `make lint` generates the types and compiles the page with them.
"""

from pathlib import Path

import pytest
from commands import Completed, new_key, running
from generated_projects import install_project, run
from openapi_examples import FILES
from proofs import SOAK

pytestmark = [pytest.mark.soak, pytest.mark.skipif(not SOAK, reason="npm installs packages for half a minute")]
SOURCES = Path(__file__).with_name("typescript")


def test_a_client_in_typescript_compiles_and_does_its_work(tmp_path: Path) -> None:
    project = install_project(SOURCES, tmp_path / "client")
    packages = project / "node_modules"
    generator = packages / "openapi-typescript/bin/cli.js"
    generated = run(project, "node", generator, "openapi.json", "--output", "schema.d.ts")
    assert generated.code == 0, generated
    compiled = run(project, "node", packages / "typescript/bin/tsc", "--project", ".")
    assert compiled == Completed(0, "", "")

    db = tmp_path / "journal.db"
    with running(db) as server:
        settings = {"JOURNAL_URL": server.url, "JOURNAL_KEY": new_key(db), "JOURNAL_CSV": FILES["text/csv"]}
        ran = run(project, "node", "compiled/client.js", settings=settings)

    assert ran == Completed(0, "done\n", "")
