"""Pictures on the page at / (docs/journal.md#on-the-page)."""

import io
import sqlite3
from base64 import b64encode
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from chromium import (
    PageJournal,
    drawn,
    eventually,
    in_a_browser,
    no_dialog,
    poll,
    resize,
    see,
    show,
    sign_in,
    values_of,
)
from factories import A_TRADE
from pictures import EXIF, PNG, big_png, png
from PIL import Image
from playwright.async_api import Page, expect

pytestmark = in_a_browser
DAY = "/days/2026-01-05"
PLACE = "day/2026-01-05"
DRAWN = ".thumb img[src]"
WIDTHS = "all => Promise.all(all.map((one) => one.decode().then(() => one.naturalWidth)))"


def drawing(kind: str, width: int = 64, height: int = 40, **options: Any) -> bytes:
    """A picture that a browser draws."""
    file = io.BytesIO()
    Image.radial_gradient("L").resize((width, height)).convert("RGB").save(file, kind, **options)
    return file.getvalue()


def add_picture(journal: PageJournal, path: str = DAY, content: bytes = PNG, **fields: Any) -> int:
    response = journal.client.post(f"{path}/pictures", content=content)
    picture = int(response.json()["data"]["picture"]["id"])
    if fields:
        journal.patch(f"/pictures/{picture}", **fields)
    return picture


def add_trade(journal: PageJournal) -> str:
    """Add a trade; its path."""
    account = journal.create("/accounts", name="Main")["id"]
    return f"/trades/{journal.create('/trades', **{**A_TRADE, 'account_id': account})['id']}"


async def choose_files(page: Page, **files: bytes) -> None:
    """Choose files by their names, whose dot is a double underscore."""
    await page.set_input_files(
        "#add-picture",
        [  # type: ignore[arg-type]  # the types of Playwright want a list of its own type
            {"name": name.replace("__", "."), "mimeType": "application/octet-stream", "buffer": content}
            for name, content in files.items()
        ],
    )


async def hand_over(
    page: Page, event: str, name: str, content: bytes, on: str = "body", text: str = ""
) -> None:
    """Paste or drop a file, with a text beside it perhaps."""
    await page.locator(on).first.evaluate(
        """(target, [type, name, content, text]) => {
            const data = new DataTransfer();
            const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
            data.items.add(new File([bytes], name, { type: "image/png" }));
            if (text) data.setData("text/plain", text);
            const options = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data };
            target.dispatchEvent(new (type === "paste" ? ClipboardEvent : DragEvent)(type, options));
        }""",
        [event, name, b64encode(content).decode(), text],
    )


# Adding --------------------------------------------------------------------------------------------------


async def test_every_kind_of_picture_is_added_and_drawn(page: Page, journal: PageJournal) -> None:
    await sign_in(page, journal, PLACE)

    await choose_files(
        page,
        a__png=drawing("PNG"),
        b__jpg=drawing("JPEG", exif=b"Exif\0\0" + EXIF),
        c__webp=drawing("WEBP"),
        d__gif=drawing("GIF"),
        e__avif=drawing("AVIF"),
        f__png=drawing("PNG", 8000, 5000),
    )
    await expect(page.locator(".thumb")).to_have_count(6)
    await eventually(lambda: journal.read(DAY)["picture_count"] == 6)
    for place in range(6):
        await page.evaluate("place => document.querySelectorAll('.thumb')[place].scrollIntoView()", place)
        await page.wait_for_selector(f".thumbs li:nth-child({place + 1}) img[src]")
    widths = "all => Promise.all(all.map((one) => one.decode().then(() => one.naturalWidth)))"

    assert await page.locator(DRAWN).evaluate_all(widths) == [
        64,
        40,
        64,
        64,
        64,
        8000,
    ]  # the JPEG stands upright
    content = journal.client.get("/pictures/2/content").content
    assert b"SECRET" not in content
    stored = journal.read(DAY)["pictures"]
    assert [one["media_type"] for one in stored[2:5]] == ["image/webp", "image/png", "image/png"]
    await expect(page.locator("#pictures [role=alert]")).to_have_text("")


REFUSED = {
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "The file is none of image/png"),
    "html": (b"<!doctype html><script>alert(1)</script>", "The file is none of image/png"),
    "truncated": (drawing("PNG")[:100], "The picture cannot be stored: it"),
    "huge": (png(20_000, 20_000, pixels=b"x"), "megapixels"),
    "empty": (b"", "The file is none of image/png"),
    "large": (big_png(10 * 2**20 + 1), "The body is larger than 10485760 bytes"),
}


@pytest.mark.parametrize(("content", "reason"), REFUSED.values(), ids=REFUSED)
async def test_a_file_that_is_refused_says_why_and_the_others_are_added(
    page: Page, journal: PageJournal, content: bytes, reason: str
) -> None:
    await sign_in(page, journal, PLACE)

    await choose_files(page, wrong__png=content, right__png=PNG)
    await see(page, "wrong.png: ", "#pictures [role=alert]")
    await see(page, reason, "#pictures [role=alert]")
    await expect(page.locator(".thumb")).to_have_count(1)
    await expect(page.locator("#pictures [role=status]")).to_have_text("")
    await choose_files(page, right__png=drawing("PNG"))
    await expect(page.locator(".thumb")).to_have_count(2)
    await expect(page.locator("#pictures [role=alert]")).to_have_text("")


async def test_more_pictures_than_there_may_be_are_refused(page: Page, journal: PageJournal) -> None:
    for _ in range(20):
        add_picture(journal)
    await sign_in(page, journal, PLACE)
    await choose_files(page, one_more__png=PNG)

    await see(page, "There are 20 pictures, the most there may be", "#pictures [role=alert]")


async def test_a_picture_is_pasted_into_a_text_that_is_being_typed_and_the_text_stays(
    page: Page, journal: PageJournal
) -> None:
    path = add_trade(journal)
    for place, text, of in ((PLACE, "#review", DAY), (f"trades?id={path[-1]}", "#notes", path)):
        await sign_in(page, journal, place)
        await page.focus(text)
        await page.keyboard.type("half a sente")
        await page.keyboard.press("ArrowLeft")
        await hand_over(page, "paste", "image.png", drawing("PNG"), text)
        await page.wait_for_selector(DRAWN)
        await hand_over(page, "paste", "table.png", PNG, text, "a table")  # its text belongs into the field
        await page.keyboard.type("N")

        assert await page.input_value(text) == "half a sentNe"
        await page.keyboard.press("Tab")
        await see(page, "Saved.", "#saved")
        stored = journal.read(of)
        assert len(stored["pictures"]) == 1
        assert stored[text[1:]] == "half a sentNe"
        await no_dialog(page)


async def test_the_clipboard_of_the_machine_is_pasted(page: Page, journal: PageJournal) -> None:
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await sign_in(page, journal, PLACE)
    await page.evaluate(
        """content => {
            const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
            const image = new Blob([bytes], { type: "image/png" });
            return navigator.clipboard.write([new ClipboardItem({ "image/png": image })]);
        }""",
        b64encode(drawing("PNG")).decode(),
    )
    await page.focus("#plan")
    await page.keyboard.press("Control+V")

    await page.wait_for_selector(DRAWN)
    assert journal.read(DAY)["pictures"][0]["width"] == 64
    await page.context.clear_permissions()


async def test_a_file_dropped_anywhere_on_the_view_is_added(page: Page, journal: PageJournal) -> None:
    await sign_in(page, journal, PLACE)

    await hand_over(page, "dragover", "chart.png", PNG, "h1")
    await page.wait_for_selector("#pictures.over")
    await hand_over(page, "drop", "chart.png", drawing("PNG"), "h1")
    await page.wait_for_selector(f"#pictures:not(.over) {DRAWN}")

    assert journal.read(DAY)["picture_count"] == 1


# Looking -------------------------------------------------------------------------------------------------


async def test_pictures_are_looked_at_and_captioned_by_keyboard(page: Page, journal: PageJournal) -> None:
    first, second = (add_picture(journal, content=drawing(kind)) for kind in ("PNG", "WEBP"))
    await sign_in(page, journal, PLACE)
    await page.focus(f"#picture-{first}")
    await page.keyboard.press("Enter")
    await see(page, "1 of 2", ".viewer")
    await expect(page.locator(".viewer img[src]")).to_have_attribute("alt", "Picture 1")

    for key, place in (("ArrowRight", 2), ("ArrowRight", 2), ("ArrowLeft", 1), ("ArrowRight", 2)):
        await page.keyboard.press(key)
        await see(page, f"{place} of 2", ".viewer")
    await page.focus("#caption")
    await page.keyboard.type("<b>The low</b>")
    await page.keyboard.press("ArrowLeft")  # moves the cursor
    await see(page, "2 of 2", ".viewer")
    await page.keyboard.press("Escape")  # saves what was typed
    await no_dialog(page)
    await page.wait_for_selector(f"#picture-{second} img[alt='<b>The low</b>']")

    assert journal.read(f"/pictures/{second}")["caption"] == "<b>The low</b>"
    await page.click(f"#picture-{first}")
    await page.fill("#caption", "The high")
    await page.click("#picture-after")
    await see(page, "2 of 2", ".viewer")
    assert journal.read(f"/pictures/{first}")["caption"] == "The high"


async def test_keys_that_are_faster_than_the_journal_end_at_the_last_picture(
    page: Page, journal: PageJournal
) -> None:
    for number in range(3):
        add_picture(journal, caption=f"Chart {number}")
    await sign_in(page, journal, PLACE)
    await page.click(".thumb")
    await see(page, "1 of 3", ".viewer")
    await page.evaluate("""
        const real = window.fetch;
        window.fetch = async (...request) => {
            if (request[0].endsWith("/pictures/2")) await new Promise((done) => setTimeout(done, 300));
            return real(...request);
        };
        0
    """)
    for _ in range(2):
        await page.keyboard.press("ArrowRight")
    await see(page, "3 of 3", ".viewer")
    await page.wait_for_timeout(500)

    await see(page, "3 of 3", ".viewer")
    await expect(page.locator("#caption")).to_have_value("Chart 2")


async def test_going_back_leaves_the_picture_too(page: Page, journal: PageJournal) -> None:
    picture = add_picture(journal)
    await sign_in(page, journal, "trades")
    await show(page, PLACE)
    await page.click(".thumb")
    await page.fill("#caption", "The low")
    await page.evaluate("history.back()")
    await drawn(page, "trades")

    await no_dialog(page)
    assert journal.read(f"/pictures/{picture}")["caption"] == "The low"


async def test_a_caption_that_was_changed_meanwhile_shows_both(page: Page, journal: PageJournal) -> None:
    picture = add_picture(journal)
    await sign_in(page, journal, PLACE)
    await page.click(".thumb")
    await page.wait_for_selector("#caption")
    journal.patch(f"/pictures/{picture}", caption="theirs")
    await page.fill("#caption", "mine")
    await page.keyboard.press("Tab")

    assert (await page.inner_text(".versions tbody")).split() == ["Caption", "mine", "theirs"]
    await page.click("dialog button:text('Save mine')")
    await see(page, "Saved.", "#caption-saved")
    assert journal.read(f"/pictures/{picture}")["caption"] == "mine"


async def test_a_picture_is_deleted_after_a_question_and_the_next_is_shown(
    page: Page, journal: PageJournal
) -> None:
    first, second = (add_picture(journal) for _ in range(2))
    await sign_in(page, journal, PLACE)
    await page.click(f"#picture-{first}")
    await page.click(".viewer .danger")
    await see(page, "It cannot be brought back.", "dialog:last-of-type")
    await page.click("dialog:last-of-type button:text('Cancel')")
    assert journal.read(DAY)["picture_count"] == 2

    def has_pictures(count: int) -> bool:
        return bool(journal.read(DAY)["picture_count"] == count)

    for left, words in ((1, "1 of 1"), (0, "")):
        await page.click(".viewer .danger")
        await page.click("dialog:last-of-type form .danger")
        await eventually(partial(has_pictures, left))
        if words:
            await see(page, words, ".viewer")
    await no_dialog(page)
    await expect(page.locator(".thumb")).to_have_count(0)
    assert journal.client.get(f"/pictures/{second}").status_code == 404


async def test_pictures_are_read_once_they_are_in_sight_and_no_blob_stays(
    page: Page, journal: PageJournal
) -> None:
    for number in range(20):
        add_picture(journal, content=drawing("PNG", 64 + number), caption=f"Chart {number}")
    read: list[str] = []
    page.on("request", lambda request: read.append(request.url) if "/content" in request.url else None)
    await resize(page, 360)
    await sign_in(page, journal, "settings")
    await page.evaluate("""
        window.blobs = new Set();
        const { createObjectURL: create, revokeObjectURL: revoke } = URL;
        URL.createObjectURL = (blob) => { const url = create(blob); window.blobs.add(url); return url; };
        URL.revokeObjectURL = (url) => { window.blobs.delete(url); revoke(url); };
    """)
    await show(page, PLACE)
    await page.locator("#pictures").scroll_into_view_if_needed()
    await page.wait_for_selector(DRAWN)
    before = len(set(read))
    journal.patch(DAY, plan="drawn again")
    await poll(page)
    await expect(page.locator("#plan")).to_have_value("drawn again")
    await page.locator(".thumb").last.scroll_into_view_if_needed()
    await page.wait_for_selector(".thumb img[src][alt='Chart 19']")

    assert 1 <= before <= 6
    assert len(read) == len(set(read)) < 20, "a view that is drawn again reads no picture again"
    await eventually_empty(page, "window.blobs.size")


async def eventually_empty(page: Page, expression: str) -> None:
    """Wait until the page says 0."""
    for _ in range(100):
        if await page.evaluate(expression) == 0:
            return
        await page.wait_for_timeout(20)
    raise AssertionError(expression)


async def test_another_picture_with_the_same_id_as_after_a_restore_is_shown(
    page: Page, journal: PageJournal
) -> None:
    for width in (64, 65):
        add_picture(journal, content=drawing("PNG", width))
    await sign_in(page, journal, PLACE)
    await page.wait_for_selector(".thumbs li:nth-child(2) img[src]")
    with closing(sqlite3.connect(journal.db)) as db:
        db.execute("UPDATE pictures SET content_id = 1 + content_id % 2")
        db.commit()
    await page.reload()
    await page.wait_for_selector(".thumbs li:nth-child(2) img[src]")

    assert await page.locator(DRAWN).evaluate_all(WIDTHS) == [65, 64]


async def test_a_picture_that_nobody_can_draw_or_read_says_so(page: Page, journal: PageJournal) -> None:
    add_picture(journal, content=big_png(100), caption="Broken")
    await sign_in(page, journal, PLACE)
    await page.wait_for_selector(f"{DRAWN}[alt=Broken]")
    await page.evaluate("window.fetch = () => Promise.reject(); 0")
    await page.click(".thumb")

    await see(page, "The journal does not answer.", "dialog:last-of-type")


async def test_an_empty_day_offers_to_add_pictures(page: Page, journal: PageJournal) -> None:
    await sign_in(page, journal, PLACE)

    await see(page, "or paste or drop them anywhere on this page", "#pictures")
    assert await values_of(page, ".thumb") == []
    await drawn(page, "day")
