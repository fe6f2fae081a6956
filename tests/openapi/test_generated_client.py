"""A client that openapi-python-client generates from the document talks to a running server."""

import io
import re
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from commands import Completed, new_key, running
from generated_projects import run
from openapi_examples import FILES
from proofs import SOAK

from journal_api.openapi.docs_page import read_document
from journal_api.testing import MakeJournal

PACKAGE = "generated_journal"
PAGE = Path(__file__).parents[2] / "docs/embedding.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("client")


@pytest.fixture(scope="module")
def generator(folder: Path) -> Completed:
    """What the generator said; the package is in the folder."""
    (folder / "openapi.json").write_bytes(read_document())
    (config,) = re.findall("```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (folder / "config.yaml").write_text("post_hooks: []\n" + config)
    options = ["--path", "openapi.json", "--config", "config.yaml", "--meta", "none"]
    generator = (sys.executable, "-m", "openapi_python_client", "generate")
    return run(folder, *generator, *options, "--output-path", PACKAGE)


@pytest.fixture(scope="module")
def generated(generator: Completed, folder: Path) -> Iterator[Any]:
    """The package: `generated("api.tags.list_tags")` is a module of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield lambda module: import_module(f"{PACKAGE}.{module}")


@pytest.fixture(scope="module")
def caller(generated: Any, folder: Path) -> Iterator[Any]:
    """The generated client of a running server, with a key of every scope."""
    db = folder / "journal.db"
    with running(db) as server:
        client = generated("client").AuthenticatedClient(base_url=server.url, token=new_key(db))
        with client as caller:
            yield caller


def test_the_generator_has_nothing_to_warn_of(generator: Completed) -> None:
    assert generator == Completed(0, f"Generating {PACKAGE}\n", "")


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="mypy reads the whole client")
def test_mypy_has_nothing_to_say_of_the_client(generator: Completed, folder: Path) -> None:
    ran = run(folder, sys.executable, "-m", "mypy", "--strict", "--no-incremental", PACKAGE)

    assert ran.out.startswith("Success"), ran.out


def test_what_it_creates_it_finds_in_a_list_and_deletes(generated: Any, caller: Any) -> None:
    categories, sent = "api.tag_categories", generated("models").TagCategoryCreate(name="Psychology")

    created = generated(f"{categories}.create_tag_category").sync(client=caller, body=sent).data.tag_category
    listed = generated(f"{categories}.list_tag_categories").sync(client=caller).data.tag_categories
    deleted = generated(f"{categories}.delete_tag_category").sync_detailed(id=created.id, client=caller)

    assert created.name == "Psychology"
    assert created in listed
    assert (deleted.status_code, deleted.parsed) == (204, None)


def test_a_page_says_which_one_it_is(generated: Any, caller: Any) -> None:
    page = generated("api.trades.list_trades").sync(client=caller, limit=7, offset=2)

    assert (page.meta.pagination.limit, page.meta.pagination.offset) == (7, 2)


def test_a_strategy_is_read_edited_and_sent_back(generated: Any, caller: Any) -> None:
    models, strategies = generated("models"), "api.strategies"
    sent = models.StrategyCreate(
        name="Opening range",
        risk_rules=models.FreeForm.from_dict({"max_risk_per_trade": 50}),
        setups=[models.SetupCreate(name="Break of the high")],
    )
    created = generated(f"{strategies}.create_strategy").sync(client=caller, body=sent).data.strategy
    edited = {**created.to_dict(), "name": "Opening drive", "risk_rules": {"max_risk_per_trade": 75}}

    patched = generated(f"{strategies}.update_strategy").sync(
        id=created.id, client=caller, body=models.StrategyPatch.from_dict(edited), dry_run=True
    )

    assert patched.data.strategy.name == "Opening drive"
    assert patched.data.strategy.risk_rules.to_dict() == {"max_risk_per_trade": 75}
    assert patched.data.strategy.setups == created.setups


def test_an_error_has_its_code_and_names_the_members(generated: Any, caller: Any) -> None:
    body = generated("models").AccountCreate(name="")

    refused = generated("api.accounts.create_account").sync(client=caller, body=body)
    missing = generated("api.goals.get_goal").sync_detailed(id=987, client=caller)

    assert refused.error.details.fields.to_dict() == {"name": "must be 1 to 100 characters"}
    assert (missing.status_code, missing.parsed.error.code) == (404, "not_found")


def test_a_file_goes_in_and_comes_out(generated: Any, caller: Any) -> None:
    account = generated("models").AccountCreate(name="Main")
    generated("api.accounts.create_account").sync(client=caller, body=account)
    file = generated("types").File(payload=io.BytesIO(FILES["text/csv"].encode()))

    imported = generated("api.imports.create_import").sync(client=caller, body=file)
    exported = generated("api.trades.export_trades").sync(client=caller)

    assert imported.data.import_.counts.new == 1
    assert b"MNQM6" in exported.payload.read()


@pytest.mark.parametrize("is_address", [True, False], ids=["its address", "the fixture"])
def test_it_takes_a_journal_of_the_pytest_plugin(generated: Any, make_journal: MakeJournal, is_address: bool) -> None:
    chosen = make_journal(serve=is_address)
    client = generated("client").AuthenticatedClient(base_url=chosen.url, token=chosen.key)
    with client if is_address else nullcontext(client.set_httpx_client(chosen)):
        listed = generated("api.tag_categories.list_tag_categories").sync(client=client)

    assert listed.data.tag_categories == []
    assert [sent.path for sent in chosen.requests] == ["/v1/tag-categories"]
