"""`make bench` runs: every case has its numbers. What they are is for a quiet machine to say.

CI runs what costs grow with; `make soak` also runs the comparisons and the crowds, which need other servers.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from commands import environment
from proofs import SOAK

TESTS = Path(__file__).parents[1]
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


def words_of(chart: Path) -> str:
    return "".join(ElementTree.parse(chart).getroot().itertext())


def see_comparisons(results: Any, told: str, chart: str) -> None:
    assert len(results) == 18
    for result in results:
        assert all(number > 0 for number in numbers_in(result)), result
        assert f"\n{result['what']}\n" in told
        others = [ratio["other"]["name"] for ratio in result.get("ratios", [])]
        assert (result["what"] in chart) == ("FastAPI + SQLAlchemy" in others), result


def see_growth(growths: Any, told: str, chart: str) -> None:
    """Every operation has its cost at every size."""
    assert [len(growth["operations"]) for growth in growths] == [50, 28]
    for growth in growths:
        assert f"by the number of {growth['of']}" in chart
        for one in growth["operations"]:
            numbers = [*one["seconds"], *one["cpu"], one["factor"], one["factor_by_cpu"]]
            assert len(numbers) == 2 * len(growth["sizes"]) + 2
            assert all(number > 0 for number in numbers), one
            assert one["what"] in chart
            assert f"\n  {one['what']} " in told


def see_tails(tails: Any, told: str) -> None:
    """Every crowd has its slowest requests, with and without an import beside it."""
    assert [(tail["beside"], tail["connections"]) for tail in tails] == [
        ("nothing beside", 4),
        ("POST /imports beside", 4),
    ]
    for tail in tails:
        every = tail["kinds"]["all"]
        assert 0 < every["p50"] <= every["p99"] <= every["p999"] <= every["most"]
        assert tail["failed"] == 0
        assert f"\n{tail['connections']} connections, {tail['beside']}: " in told


def see_formats(costs: Any, told: str) -> None:
    """Every format in CSV has the CPU time of its rows."""
    assert len(costs) == 25
    for cost in costs:
        assert min(cost["ours"], cost["bare"]) > 0
        assert f"\n  {cost['format']}, {cost['rows']:,} " in told


@pytest.mark.soak
def test_every_number_is_in_the_document_the_tables_and_the_charts(tmp_path: Path) -> None:
    from bench.load import WITHOUT_WRK, has_wrk

    if SOAK and not has_wrk():
        pytest.skip(WITHOUT_WRK)

    ran = bench("--quick", *([] if SOAK else ["--growth"]), "--out", tmp_path)

    assert (ran.returncode, ran.stderr) == (0, "")
    document = msgspec.json.decode((tmp_path / "bench.json").read_bytes())
    see_growth(document["growth"], ran.stdout, words_of(tmp_path / "growth.svg"))
    if SOAK:
        see_comparisons(document["results"], ran.stdout, words_of(tmp_path / "bench.svg"))
        see_formats(document["formats"], ran.stdout)
        see_tails(document["tail"], ran.stdout)


def test_without_wrk_it_says_in_one_line_how_to_install_it(tmp_path: Path) -> None:
    ran = bench(PATH=str(tmp_path))

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "Error: make bench needs wrk: `apt install wrk` or `brew install wrk`\n"
