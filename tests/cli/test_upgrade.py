"""The upgrade by the commands of docs/self-hosting.md, from an installed release to the wheel of this one."""

import json
import os
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest
from commands import health, rows
from desktop import piped
from journals import write_released
from proofs import only_in_soak
from wheels import SOURCES, run

from journal_api import __version__
from journal_api.database import schemas

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands of the page are those of a POSIX shell")


def copy_checkout(folder: Path) -> Path:
    """A copy of what a wheel is built from."""
    folder.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def install_older_release(environment: Path) -> None:
    """Make an environment without pip, with a release as pip installs one; it has a module that is gone since."""
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=environment.parent)
    (packages,) = environment.glob("lib/python*/site-packages")
    about = "trading_journal_api-0.3.0.dist-info"
    record = f"{about}/RECORD"
    files = {
        "journal_api/__init__.py": "",
        "journal_api/gone.py": "",
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: trading-journal-api\nVersion: 0.3.0\n",
        f"{about}/INSTALLER": "pip\n",
    }
    files[record] = "".join(f"{name},,\n" for name in (*files, record))
    for name, text in files.items():
        (packages / name).parent.mkdir(exist_ok=True)
        (packages / name).write_text(text)


def read_upgrade_commands() -> str:
    """The first commands of the chapter on upgrades."""
    chapter = (ROOT / "docs/self-hosting.md").read_text(encoding="utf-8").partition("\n## Upgrade\n")[2]
    return chapter.partition("```\n")[2].partition("```")[0]


def put_pip_into(environment: Path) -> None:
    """Give the environment a command `pip`: pip of this environment, which acts on the other."""
    pip = environment / "bin/pip"
    pip.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pip --python "{environment}/bin/python" "$@"\n')
    pip.chmod(0o700)


def list_installed(environment: Path) -> dict[str, str]:
    """The version of each installed distribution that has the package."""
    names = "from importlib.metadata import distributions as all_of; import json; print(json.dumps({"
    names += "one.name: one.version for one in all_of() if one.name.endswith('journal-api')}))"
    installed: dict[str, str] = json.loads(run(environment / "bin/python", "-c", names, cwd=environment))
    return installed


@only_in_soak
def test_the_documented_upgrade_installs_the_new_release_and_migrates_the_old_journal(db: Path, tmp_path: Path) -> None:
    checkout, target = copy_checkout(tmp_path / "checkout"), tmp_path / "environment"
    install_older_release(target)
    put_pip_into(target)
    write_released(db, 4)
    trades = rows(db, "SELECT count(*) FROM trades")
    assert list_installed(target) == {"trading-journal-api": "0.3.0"}
    packages = f"PYTHONPATH={sysconfig.get_path('purelib')}"
    commands = read_upgrade_commands().replace("/opt/journal-api/bin/j", f"{packages} /opt/journal-api/bin/j")
    commands = commands.replace("/opt/journal-api", str(target))

    (checkout / "journal_api/new.py").touch()  # only the new release has it
    printed = run(
        *("bash", "-euo", "pipefail", "-c", commands),
        cwd=checkout,
        PATH=f"{Path(sys.executable).parent}:/usr/bin:/bin",
        PIP_NO_DEPS="1",  # the packages of this environment serve
        PIP_NO_BUILD_ISOLATION="0",  # pip reads this as: build with the hatchling that is installed here
    )
    assert printed.splitlines()[-1] == __version__
    assert list_installed(target) == {"trading-journal-api": __version__}
    (package,) = target.glob("lib/python*/site-packages/journal_api")
    pages = {f"docs/{page.name}" for page in checkout.glob("docs/*.md")}
    assert files_of(package) == {*files_of(checkout / "journal_api"), "schema.sql", *pages}

    told = read_health(target / "bin/journal-api", db)
    assert told == {"status": "ok", "version": __version__, "schema": schemas.VERSION, "writable": True}
    assert rows(db, "SELECT count(*) FROM trades") == trades
    assert len(list(tmp_path.glob("journal.db.before-schema-*"))) == 1


def files_of(package: Path) -> set[str]:
    files = (file.relative_to(package) for file in package.rglob("*") if file.is_file())
    return {str(file) for file in files if "__pycache__" not in file.parts}


def read_health(program: Path, db: Path) -> object:
    """The data of /health of a server that runs for that request alone."""
    packages = {"PYTHONPATH": sysconfig.get_path("purelib")}
    with piped(program, "serve", "--port", "0", "--announce", "--db", db, settings=packages) as (server, stdin, stdout):
        answer = health(json.loads(stdout.readline())["url"]).json()
        stdin.close()
        assert server.wait(30) == 0
    return answer["data"]
