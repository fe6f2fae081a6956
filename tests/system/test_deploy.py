"""The files of docs/deploy: what the image is built from, and what the systemd units leave visible."""

import fnmatch
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from commands import PATIENCE, WITHOUT_TLS, environment, new_key
from ruamel.yaml import YAML
from wheels import SOURCES

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs/deploy"
UNITS = [DEPLOY / "journal-api.service", DEPLOY / "journal@.service"]


def read_copied_paths() -> list[str]:
    """What the Dockerfile copies from the checkout."""
    copies = re.findall(r"^COPY (?!--from)(.*) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    return [path for line in copies for path in line.split()]


def read_lines(unit: Path, *but: str) -> list[str]:
    """The settings of a unit, without comments and without the settings that are named."""
    lines = [line for line in unit.read_text().splitlines() if line and not line.startswith("#")]
    return [line for line in lines if line.partition("=")[0] not in but]


# Docker ------------------------------------------------------------------------------------------------


def test_the_image_is_built_from_the_files_of_a_wheel() -> None:
    assert sorted(read_copied_paths()) == sorted(SOURCES)
    assert [path for path in read_copied_paths() if not (ROOT / path).exists()] == []


def test_nothing_else_of_the_checkout_is_sent_to_docker() -> None:
    patterns = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    rules = [pattern for pattern in patterns if not pattern.startswith("#")]

    assert rules[0] == "*"
    assert sorted(rule[1:] for rule in rules if rule.startswith("!")) == sorted(SOURCES)
    ignored = [rule for rule in rules[1:] if not rule.startswith("!")]
    names = ["journal_api/app.py", "journal_api/database/migration_scripts/to_1.sql", "schema.sql"]
    assert [name for name in names for rule in ignored if fnmatch.fnmatch(name, rule)] == []


def test_compose_builds_that_dockerfile_and_keeps_the_journal_in_a_volume() -> None:
    compose: Any = YAML(typ="safe").load((DEPLOY / "compose.yaml").read_text())
    service = compose["services"]["journal"]

    context = (DEPLOY / service["build"]["context"]).resolve()
    assert context == ROOT
    assert (context / service["build"]["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    assert service["volumes"] == [f"{volume}:/data" for volume in compose["volumes"]]
    assert service["ports"] == ["127.0.0.1:8000:8000"]


# systemd -----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_finds_no_mistake_in_the_unit(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace("/opt/journal-api/bin/journal-api", "/bin/true"))

    ran = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", copy],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    assert [line for line in ran.stderr.splitlines() if unit.name in line] == []


def test_the_unit_for_many_people_has_the_sandbox_of_the_unit_for_one() -> None:
    personal = ("Description", "User", "Group", "EnvironmentFile", "Environment", "StateDirectory")

    one, many = (read_lines(unit, *personal) for unit in UNITS)

    assert one == many


def proc_options(unit: Path) -> str:
    """The mount options of /proc that the unit asks systemd for."""
    told = dict(line.split("=", 1) for line in read_lines(unit) if line.startswith("Proc"))
    told |= dict(line.split("=", 1) for line in read_lines(unit) if line.startswith("ProtectProc"))
    subset = ",subset=pid" if told.get("ProcSubset") == "pid" else ""
    return f"hidepid={told['ProtectProc']}{subset}"


def can_mount_proc() -> bool:
    command = ["unshare", "--mount", "mount", "-t", "proc", "-o", "hidepid=invisible", "proc", "/proc"]
    return (
        sys.platform == "linux" and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )


@contextmanager
def running_under(options: str, db: Path) -> Iterator[str]:
    """The address of a server that sees /proc with these mount options."""
    script = f'mount -t proc -o {options} proc /proc && exec "$0" -m journal_api serve --port 0 --announce'
    with subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", script, sys.executable],
        env=environment({"JOURNAL_DB": str(db), "JOURNAL_METRICS": "true"}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


@pytest.mark.skipif(not can_mount_proc(), reason="needs the right to mount /proc")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_under_the_unit_metrics_have_memory_cpu_and_the_sizes_of_the_files(
    unit: Path, tmp_path: Path
) -> None:
    db = tmp_path / "journal.db"

    with running_under(proc_options(unit), db) as url:
        key = {"Authorization": f"Bearer {new_key(db)}"}
        text = httpx.get(f"{url}/metrics", headers=key, timeout=PATIENCE, verify=WITHOUT_TLS).text

    for name in (
        "process_resident_memory_bytes",
        "process_cpu_seconds_total",
        'journal_file_bytes{file="log"}',
    ):
        assert f"\n{name} " in text
