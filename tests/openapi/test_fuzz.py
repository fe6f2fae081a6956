"""Schemathesis against a running server: no input gives a 5xx, and every answer is as the document says.

It runs in `make soak` and `make fuzz` alone. In every run test_openapi.py sends the examples and the values on both
sides of each limit, and tests/web what no operation accepts.
"""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from commands import PATIENCE, WITHOUT_TLS, Completed, Server, new_key, running
from generated_projects import run
from openapi_examples import send_examples
from proofs import SOAK

SECONDS = os.environ.get("FUZZ_SECONDS") or ("1200" if SOAK else None)
CONFIG = Path(__file__).with_name("schemathesis.toml")
pytestmark = [pytest.mark.soak, pytest.mark.skipif(SECONDS is None, reason="it takes 20 minutes, or FUZZ_SECONDS")]


async def tell_examples(server: Server, key: str) -> None:
    """Make a journal in which the ids of the examples are."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(
        base_url=f"{server.url}/v1", headers=headers, timeout=PATIENCE, verify=WITHOUT_TLS
    ) as client:
        answers = await send_examples(client)
    assert all(answer.is_success for _, answer in answers)


def fuzz(server: Server, key: str, folder: Path, seconds: str) -> Completed:
    """In that folder it leaves what it needs to replay a failure."""
    shutil.copy(CONFIG, folder)
    program = (sys.executable, "-m", "schemathesis.cli", "--no-color", "run", f"{server.url}/openapi.json")
    options = ("--header", f"Authorization: Bearer {key}", "--generation-database", "none", "--max-time", seconds)
    hooks = {
        "SCHEMATHESIS_HOOKS": str(Path(__file__).with_name("fuzz_checks.py")),
        "PYTHONPATH": str(Path(__file__).parents[1] / "support"),
    }
    return run(folder, *program, *options, settings=hooks, timeout=10 * PATIENCE + float(seconds))


@pytest.mark.promise(12)
def test_whatever_is_sent_is_answered_as_the_document_says(
    db: Path, tmp_path: Path, record_observation: Callable[[str], None]
) -> None:
    new_key(db)  # a spare one, which may be revoked
    key = new_key(db)
    with running(db) as server:
        asyncio.run(tell_examples(server, key))

        ran = fuzz(server, key, tmp_path, SECONDS or "")

    assert ran.code == 0, ran.out + ran.err
    (generated,) = re.findall(r"(\d+) generated", ran.out)
    assert int(generated) > 250
    assert "Traceback" not in server.err.read_text()
    sys.stdout.write(ran.out)
    record_observation(
        f"Schemathesis, {generated} requests in {SECONDS} s: 0 failures, no 5xx, every answer as documented"
    )
