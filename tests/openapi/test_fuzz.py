"""Schemathesis against a running server: no input gives a 5xx, and every answer is as the document says."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from commands import PATIENCE, WITHOUT_TLS, Completed, Server, environment, new_key, running
from openapi_examples import send_examples
from proofs import SOAK

# As many examples an operation, always the same ones; or other ones for so long, which `make fuzz` asks for.
EXAMPLES = "2"
SECONDS = os.environ.get("FUZZ_SECONDS") or ("1200" if SOAK else None)
# The long run has the phase of coverage too.
BOUNDED = [
    *("--generation-deterministic", "--max-examples", EXAMPLES),
    *("--phases", "examples,fuzzing,stateful"),
]
LONG = ["--generation-database", "none", "--max-time", SECONDS or ""]


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
    tests = Path(__file__).parent
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", tests / "schemathesis.toml"),
            *("--no-color", "run", f"{server.url}/openapi.json", "--header", f"Authorization: Bearer {key}"),
            *(LONG if SECONDS else BOUNDED),
        ],
        cwd=folder,
        env=environment({"SCHEMATHESIS_HOOKS": str(tests / "fuzz_checks.py")}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE + float(SECONDS or 0),
        check=False,
    )
    return Completed(ran.returncode, ran.stdout, ran.stderr)


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
    assert int(generated) > 300
    assert "Traceback" not in server.err.read_text()
    sys.stdout.write(ran.out)
    for_so_long = f"in {SECONDS} s" if SECONDS else f"of at most {EXAMPLES} examples an operation"
    record_observation(
        f"Schemathesis, {generated} requests {for_so_long}: 0 failures, no 5xx, every answer as documented"
    )
