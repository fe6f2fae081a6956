"""The README's tour, run as it is written."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec
from commands import key_in, running

ROOT = Path(__file__).parent.parent


def tour() -> str:
    """Every shell block of the README, in order."""
    return "\n".join(re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S))


def test_the_tour_runs_as_written_and_ends_with_the_snapshots(tmp_path: Path) -> None:
    db = tmp_path / "journal.db"
    with running(db, "--first-key") as server:
        script = tour()
        key = key_in(server.out.read_text())
        for name, value in (("API", f"{server.url}/v1"), ("KEY", key)):
            script, replaced = re.subn(rf"^{name}=.*$", f"{name}={value}", script, flags=re.M)
            assert replaced == 1
        script = script.replace(".venv/bin/journal-api", f"{sys.executable} -m journal_api")
        script = script.replace("edited.json", str(tmp_path / "edited.json"))

        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=ROOT,
            env={"PATH": "/usr/bin:/bin", "JOURNAL_DB": str(db)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert "5 new, 0 already there" in lines
    answers = [msgspec.json.decode(line) for line in lines if line.startswith("{")]
    assert len(answers) == 10
    assert all(answer["ok"] for answer in answers)
    edited = answers[5]["data"]["strategy"]["setups"]
    assert [setup["name"] for setup in edited] == ["Break of the high", "Break of the low", "Failed breakout"]
    assert edited[0]["confirmations"][0] == {
        "confirmation_id": 1,
        "name": "Volume above average",
        "description": None,
        "sort_order": 0,
    }
    monthly, daily = (answer["data"]["snapshots"] for answer in answers[-2:])
    assert sum(snapshot["actual"] for snapshot in monthly) == -218
    assert sum(snapshot["snapshot_data"]["gross_pnl"] for snapshot in daily) == -218
