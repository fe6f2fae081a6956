"""The files of docs/deploy: what the image is built from, and what the systemd units leave visible."""

import fnmatch
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commands import PATIENCE
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


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_finds_no_mistake_in_the_unit(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace("/opt/journal-api/bin/journal-api", "/bin/true"))

    ran = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, timeout=PATIENCE, check=False
    )

    assert [line for line in ran.stderr.splitlines() if unit.name in line] == []


def test_the_unit_for_many_people_has_the_sandbox_of_the_unit_for_one() -> None:
    personal = ("Description", "User", "Group", "EnvironmentFile", "Environment", "StateDirectory")

    one, many = (read_lines(unit, *personal) for unit in UNITS)

    assert one == many


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_unit_lets_metrics_read_proc(unit: Path) -> None:
    """ProcSubset=pid would hide /proc/stat."""
    assert [line for line in read_lines(unit) if "Proc" in line] == ["ProtectProc=invisible"]
