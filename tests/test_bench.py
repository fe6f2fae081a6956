"""`make bench` runs: every case has its numbers. What they are is for a quiet machine to say."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from commands import environment

TESTS = Path(__file__).parent
MISSING = [name for name in ("fastapi", "psutil", "sqlalchemy") if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs the dependency group bench: {MISSING}")


def bench(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *map(str, arguments)],
        cwd=TESTS,
        env=environment() | variables,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def numbers_in(result: Any) -> list[float]:
    """Every median of a case: ours, the others', the ratios."""
    if result["type"] == "limited":
        return [result["value"]["median"]]
    numbers = [result["ours"]["rate"]["median"]]
    for ratio in result["ratios"]:
        numbers += [ratio["other"]["rate"]["median"], ratio["ratio"]["median"]]
    return numbers


def test_every_case_has_its_numbers_in_the_document_the_table_and_the_chart(tmp_path: Path) -> None:
    from bench.load import WITHOUT_WRK, has_wrk

    if not has_wrk():
        pytest.skip(WITHOUT_WRK)

    ran = bench("--quick", "--out", tmp_path)

    assert (ran.returncode, ran.stderr) == (0, "")
    results = msgspec.json.decode((tmp_path / "bench.json").read_bytes())["results"]
    chart = "".join(ElementTree.parse(tmp_path / "bench.svg").getroot().itertext())
    assert len(results) == 13
    for result in results:
        assert all(number > 0 for number in numbers_in(result)), result
        assert f"\n{result['what']}\n" in ran.stdout
        assert result["type"] == "limited" or result["unit"] == "time" or result["what"] in chart


def test_without_wrk_it_says_in_one_line_how_to_install_it(tmp_path: Path) -> None:
    ran = bench(PATH=str(tmp_path))

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "Error: make bench needs wrk: `apt install wrk` or `brew install wrk`\n"
