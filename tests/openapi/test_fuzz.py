"""Schemathesis against a running server: no input gives a 5xx, and every answer is as the document says."""

import asyncio
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from commands import PATIENCE, WITHOUT_TLS, Completed, Server, new_key, running
from generated_projects import run
from openapi_examples import send_examples
from proofs import SOAK

from journal_api.routes.table import OPERATIONS

# In CI one example an operation, always the same ones; or all phases for so long, which `make fuzz` asks for.
SECONDS = os.environ.get("FUZZ_SECONDS") or ("1200" if SOAK else None)
SHORT = ["--generation-deterministic", "--max-examples", "1", "--phases", "examples,fuzzing"]
LONG = ["--generation-database", "none", "--max-time", SECONDS or ""]
CONFIG = Path(__file__).with_name("schemathesis.toml").read_text()
# In CI bodies are those of the examples: ten seconds go before the first random body is made.
WITH_BODY = [one for one in OPERATIONS if one.body and one.method != "DELETE"]
SHORT_CONFIG = f"""{CONFIG}
[[operations]]
include-name = {[f"{one.method} {one.documented_path}" for one in WITH_BODY]}
phases.fuzzing.enabled = false
"""


async def tell_examples(server: Server, key: str) -> None:
    """Make a journal in which the ids of the examples are."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(
        base_url=f"{server.url}/v1", headers=headers, timeout=PATIENCE, verify=WITHOUT_TLS
    ) as client:
        answers = await send_examples(client)
    assert all(answer.is_success for _, answer in answers)


def fuzz(server: Server, key: str, folder: Path) -> Completed:
    """In that folder it leaves what it needs to replay a failure."""
    (folder / "schemathesis.toml").write_text(CONFIG if SECONDS else SHORT_CONFIG)
    program = (sys.executable, "-m", "schemathesis.cli", "--no-color", "run", f"{server.url}/openapi.json")
    options = ("--header", f"Authorization: Bearer {key}", *(LONG if SECONDS else SHORT))
    hooks = {
        "SCHEMATHESIS_HOOKS": str(Path(__file__).with_name("fuzz_checks.py")),
        "PYTHONPATH": str(Path(__file__).parents[1] / "support"),
    }
    timeout = 10 * PATIENCE + float(SECONDS or 0)
    return run(folder, *program, *options, settings=hooks, timeout=timeout)


@pytest.mark.promise(12)
def test_whatever_is_sent_is_answered_as_the_document_says(
    tmp_path: Path, record_observation: Callable[[str], None]
) -> None:
    db = tmp_path / "journal.db"
    new_key(db)  # a spare one, which may be revoked
    key = new_key(db)
    with running(db) as server:
        asyncio.run(tell_examples(server, key))

        ran = fuzz(server, key, tmp_path)

    assert ran.code == 0, ran.out + ran.err
    (generated,) = re.findall(r"(\d+) generated", ran.out)
    assert int(generated) > 250
    assert "Traceback" not in server.err.read_text()
    sys.stdout.write(ran.out)
    for_so_long = f"in {SECONDS} s" if SECONDS else "of the examples, and one without a body an operation"
    record_observation(
        f"Schemathesis, {generated} requests {for_so_long}: 0 failures, no 5xx, every answer as documented"
    )
