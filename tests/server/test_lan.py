"""`serve --lan`: the journal on a phone in the local network, here on another loopback address."""

import json
import re
import socket
import sys
from pathlib import Path

import httpx
import pytest
import segno
from chromium import Tab, in_a_browser
from commands import WITHOUT_TLS, rows, running

from journal_api.cli.sign_in_link import BORDER, draw
from journal_api.server.lan import detect_address, find_lan_address
from journal_api.settings import SettingsError

LAN = "127.0.0.2"
LINK = rf"http://{re.escape(LAN)}:[0-9]+/#code=\S+&stay"
HALF_BLOCKS = {"█": (0, 0), "▀": (0, 1), "▄": (1, 0), " ": (1, 1)}

needs_second_address = pytest.mark.skipif(sys.platform != "linux", reason="one loopback address alone")


def modules_of(drawn: str) -> list[tuple[int, ...]]:
    """The dark modules of a QR code of half blocks, without its border."""
    lines: list[tuple[int, ...]] = []
    for line in drawn.splitlines():
        lines += zip(*(HALF_BLOCKS[block] for block in line), strict=True)
    size = len(lines[0]) - BORDER
    return [line[BORDER:size] for line in lines[BORDER:size]]


@needs_second_address
def test_the_service_is_in_the_network_and_on_this_machine_and_the_code_is_the_printed_link(db: Path) -> None:
    with running(db, "--lan", LAN) as server:
        printed = server.out.read_text()
        (link,) = re.findall(LINK, printed)
        origin = link.partition("/#")[0]
        sent = {"code": link.partition("=")[2].removesuffix("&stay")}
        of_phone = httpx.post(f"{origin}/sign-in", json=sent, headers={"Origin": origin}, verify=WITHOUT_TLS)
        here = httpx.get(f"{server.url}/health", verify=WITHOUT_TLS)
        other_host = httpx.get(f"{origin}/health", headers={"Host": "evil.example"}, verify=WITHOUT_TLS)
        key = {"Authorization": f"Bearer {of_phone.json()['data']['key']}"}
        me = httpx.get(f"{origin}/v1/me", headers=key, verify=WITHOUT_TLS)

    assert (of_phone.status_code, here.status_code, other_host.status_code) == (201, 200, 421)
    assert me.headers["x-ratelimit-limit"] == "600"  # others can reach it
    code = segno.make(link, error="l", micro=False)
    lines = [line for line in printed.splitlines() if line and set(line) <= HALF_BLOCKS.keys()]
    assert modules_of("\n".join(lines)) == [tuple(row) for row in code.matrix]
    assert "Anyone in this network can read along" in printed
    assert "first API key" not in printed


@needs_second_address
def test_a_first_key_comes_with_the_link(db: Path) -> None:
    with running(db, "--lan", LAN, "--first-key") as server:
        printed = server.out.read_text()

    assert len(re.findall(r"/#code=", printed)) == len(re.findall(LINK, printed)) == 1
    assert re.search(r"^    tjk_", printed, re.MULTILINE)


def test_an_address_is_found_or_asked_for() -> None:
    found = detect_address()
    if found is None:
        with pytest.raises(SettingsError, match="name its address"):
            find_lan_address("auto")
        return

    assert find_lan_address("auto") == found
    with socket.create_server((found, 0)):
        pass  # it is an address of this machine


def test_a_terminal_without_the_characters_gets_the_link_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        encoding = "ascii"

    assert draw("http://localhost/")
    monkeypatch.setattr(sys, "stdout", Terminal())

    assert draw("http://localhost/") == ()


@in_a_browser
@needs_second_address
async def test_a_phone_stays_signed_in_until_it_signs_out(db: Path, page: Tab) -> None:
    with running(db, "--lan", LAN) as server:
        (link,) = re.findall(LINK, server.out.read_text())
        await page.goto(link)
        await page.drawn("today")
        devtools = await page.context.new_cdp_session(page.page)
        manifest = await devtools.send("Page.getAppManifest")
        await page.evaluate("sessionStorage.clear()")  # the tab is closed
        await page.goto(link.partition("#")[0])
        await page.drawn("today")
        key = await page.evaluate("localStorage.getItem('journal-key')")

        await page.show("settings")
        await page.click("#sign-out")
        await page.wait_for_selector("#sign-in")

        revoked = rows(db, "SELECT revoked_at IS NOT NULL FROM api_keys")
        stored = await page.evaluate("localStorage.length + sessionStorage.length")
    assert (manifest["errors"], json.loads(manifest["data"])["name"]) == ([], "Trading journal")
    assert key.startswith("tjk_")
    assert (revoked, stored) == ([(1,)], 0)
