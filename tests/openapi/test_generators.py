"""Clients that generators write from the document compile, and linters have nothing to say of it.

generators/package.json and typescript/package.json have the versions. It runs in `make soak` alone, and what is
not there is skipped: Node.js and npm, Java for openapi-generator, or the registries that packages come from.
"""

import shutil
import sys
from pathlib import Path

import pytest
from commands import Completed, new_key, running
from generated_projects import install_project, run
from openapi_examples import FILES
from proofs import SOAK

pytestmark = [pytest.mark.soak, pytest.mark.skipif(not SOAK, reason="npm installs packages for half a minute")]
SOURCES = Path(__file__).with_name("generators")
OPENAPI_GENERATOR = "openapi-generator-cli==7.26.0"  # the package on PyPI, which brings the program along
NPX = ("npx", "--no-install")
UNKNOWN_VALUES = "--additional-properties=enumUnknownDefaultCase=true"  # as docs/embedding.md says
KOTLIN = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the document and the packages."""
    return install_project(SOURCES, tmp_path_factory.mktemp("generators") / "project")


@pytest.fixture(scope="module")
def openapi_generator(project: Path) -> Path:
    """The program of openapi-generator."""
    if not shutil.which("java"):
        pytest.skip("Java is not installed")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--target", "python", OPENAPI_GENERATOR)
    if (installed := run(project, *pip)).code:
        pytest.skip(f"pip cannot install openapi-generator: {installed.err}")
    return project / "python/openapi_generator_cli/openapi-generator.jar"


def compile_typescript(project: Path, *generate: str | Path) -> None:
    """Compile what that command generates."""
    shutil.rmtree(project / "generated", ignore_errors=True)
    generated = run(project, *generate)
    assert generated.code == 0, generated
    compiled = run(project, *NPX, "tsc", "--project", ".")
    assert (compiled.code, compiled.out) == (0, "")


@pytest.mark.parametrize(
    "command",
    [
        ("openapi-ts", "--input", "openapi.json", "--output", "generated"),
        ("orval", "--input", "openapi.json", "--output", "generated/journal.ts", "--client", "fetch"),
    ],
    ids=["hey-api", "orval"],
)
def test_a_client_in_typescript_compiles(project: Path, command: tuple[str, ...]) -> None:
    compile_typescript(project, *NPX, *command)


def test_a_client_of_openapi_generator_compiles(project: Path, openapi_generator: Path) -> None:
    options = ("-g", "typescript-fetch", "-i", "openapi.json", "-o", "generated", UNKNOWN_VALUES)
    compile_typescript(project, "java", "-jar", openapi_generator, "generate", *options)


def test_a_client_of_openapi_typescript_does_its_work(db: Path, tmp_path: Path) -> None:
    """With its default options and openapi-fetch: typescript/client.ts talks to a running server."""
    project = install_project(SOURCES.with_name("typescript"), tmp_path / "client")
    packages = project / "node_modules"
    generator = packages / "openapi-typescript/bin/cli.js"
    generated = run(project, "node", generator, "openapi.json", "--output", "schema.d.ts")
    assert generated.code == 0, generated
    compiled = run(project, "node", packages / "typescript/bin/tsc", "--project", ".")
    assert compiled == Completed(0, "", "")

    with running(db) as server:
        settings = {"JOURNAL_URL": server.url, "JOURNAL_KEY": new_key(db), "JOURNAL_CSV": FILES["text/csv"]}
        ran = run(project, "node", "compiled/client.js", settings=settings)

    assert ran == Completed(0, "done\n", "")


def test_models_in_kotlin_compile(project: Path, openapi_generator: Path) -> None:
    only = "--global-property=models,modelDocs=false,modelTests=false"
    options = ("-g", "kotlin", "-i", "openapi.json", "-o", "kotlin", only, UNKNOWN_VALUES)
    generated = run(project, "java", "-jar", openapi_generator, "generate", *options)
    assert generated.code == 0, generated

    home = project / "node_modules/kotlin-compiler"
    sources = ("Moshi.kt", "kotlin/src/main/kotlin")
    compiler = ("java", "-cp", f"{home}/lib/*", KOTLIN, "-kotlin-home", home, "-no-reflect")
    compiled = run(project, *compiler, "-d", "models.jar", *sources)

    assert compiled.code == 0, compiled.err


@pytest.mark.parametrize(
    "command",
    [
        ("redocly", "lint", "openapi.json", "--config", "redocly.yaml"),
        ("spectral", "lint", "openapi.json", "--ruleset", "spectral.yaml", "--fail-severity", "hint"),
    ],
    ids=["redocly", "spectral"],
)
def test_a_linter_has_nothing_to_say(project: Path, command: tuple[str, ...]) -> None:
    linted = run(project, *NPX, *command)

    assert linted.code == 0, linted
