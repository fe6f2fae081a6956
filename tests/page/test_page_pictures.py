"""Pictures on the page at / (docs/journal.md#on-the-page)."""

import io
from base64 import b64encode
from functools import partial
from typing import Any

from chromium import PageJournal, Tab, eventually, in_a_browser, only_member
from pictures import EXIF, PNG, big_png, png
from PIL import Image
from playwright.async_api import expect

from journal_api.page import files

pytestmark = in_a_browser
DAY = "/days/2026-01-05"
PLACE = "day/2026-01-05"
DRAWN = ".thumb img[src]"
ALERT = "#pictures [role=alert]"
WIDTHS = "all => Promise.all(all.map((one) => one.decode().then(() => one.naturalWidth)))"


def drawing(kind: str, width: int = 64, height: int = 40, **options: Any) -> bytes:
    """A picture that a browser draws."""
    file = io.BytesIO()
    Image.radial_gradient("L").resize((width, height)).convert("RGB").save(file, kind, **options)
    return file.getvalue()


def add_picture(journal: PageJournal, content: bytes = PNG, **fields: Any) -> int:
    picture = int(only_member(journal.client.post(f"{DAY}/pictures", content=content))["id"])
    if fields:
        journal.patch(f"/pictures/{picture}", **fields)
    return picture


def is_stored(journal: PageJournal, count: int) -> bool:
    return bool(journal.read(DAY)["picture_count"] == count)


async def choose_files(page: Tab, **files: bytes) -> None:
    """Choose files by their names, whose dot is a double underscore."""
    await page.set_input_files(
        "#add-picture",
        [
            {"name": name.replace("__", "."), "mimeType": "application/octet-stream", "buffer": content}
            for name, content in files.items()
        ],
    )


async def hand_over(page: Tab, event: str, on: str, content: bytes, text: str = "") -> None:
    """Paste or drop a file, with a text beside it perhaps."""
    await page.locator(on).first.evaluate(
        """(target, [type, content, text]) => {
            const data = new DataTransfer();
            const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
            data.items.add(new File([bytes], "chart.png", { type: "image/png" }));
            if (text) data.setData("text/plain", text);
            const options = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data };
            target.dispatchEvent(new (type === "paste" ? ClipboardEvent : DragEvent)(type, options));
        }""",
        [event, b64encode(content).decode(), text],
    )


# Adding --------------------------------------------------------------------------------------------------

KINDS = {
    "a__png": drawing("PNG"),
    "b__jpg": drawing("JPEG", exif=b"Exif\0\0" + EXIF),
    "c__webp": drawing("WEBP"),
    "d__gif": drawing("GIF"),
    "e__avif": drawing("AVIF"),
    "f__png": drawing("PNG", 4000, 2500),
}
REFUSED = {
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "The file is none of image/png"),
    "html": (b"<!doctype html><script>alert(1)</script>", "The file is none of image/png"),
    "truncated": (drawing("PNG")[:100], "The picture cannot be stored: it"),
    "huge": (png(20_000, 20_000, pixels=b"x"), "megapixels"),
    "empty": (b"", "The file is none of image/png"),
    "large": (big_png(10 * 2**20 + 1), "The body is larger than 10485760 bytes"),
}


async def test_every_picture_is_drawn_or_refused_with_a_reason(page: Tab, page_journal: PageJournal) -> None:
    await page.resize(1280, 4_000)  # so that all are in sight
    await page.sign_in(page_journal, PLACE)
    await choose_files(page, **KINDS)
    await page.count(".thumb", len(KINDS))
    await page.count(DRAWN, len(KINDS))
    await expect(page.locator(ALERT)).to_have_text("")
    # The JPEG stands upright.
    assert await page.locator(DRAWN).evaluate_all(WIDTHS) == [64, 40, 64, 64, 64, 4000]
    assert b"SECRET" not in page_journal.client.get("/pictures/2/content").content
    kept = [one["media_type"] for one in page_journal.read(DAY)["pictures"]]
    assert kept == ["image/png", "image/jpeg", "image/webp", "image/png", "image/png", "image/png"]

    await choose_files(
        page, **{f"{name}__png": content for name, (content, _) in REFUSED.items()}, right__png=PNG
    )
    await page.count(".thumb", len(KINDS) + 1)
    for name, (_, reason) in REFUSED.items():
        await page.see(f"{name}.png: {reason}" if name != "huge" else reason, ALERT)
    await expect(page.locator("#pictures [role=status]")).to_have_text("")
    for _ in range(20 - len(KINDS) - 1):
        add_picture(page_journal)
    await choose_files(page, one_more__png=PNG)
    await page.see("There are 20 pictures, the most there may be", ALERT)
    page_journal.delete("/pictures/1")
    await choose_files(page, right__png=PNG)
    await expect(page.locator(ALERT)).to_have_text("")
    await eventually(lambda: is_stored(page_journal, 20))


async def test_a_picture_is_pasted_or_dropped_anywhere(page: Tab, page_journal: PageJournal) -> None:
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    trade = page_journal.add_trade()
    await page.sign_in(page_journal, PLACE)
    await page.see("or paste or drop them anywhere on this page", "#pictures")
    places = ((PLACE, "#review", DAY), (f"trades?id={trade}", "#notes", f"/trades/{trade}"))
    for place, text, path in places:
        await page.show(place)
        await page.type(text, "half a sente")
        await page.keys("ArrowLeft")
        await hand_over(page, "paste", text, drawing("PNG"))
        await page.wait_for_selector(DRAWN)
        await hand_over(page, "paste", text, PNG, "a table")  # its text belongs into the field
        await page.keyboard.type("N")
        await page.holds(text, "half a sentNe")
        await page.keys("Tab")
        await page.gone("form[data-changed]")
        await page.see("Saved.", "#saved")
        stored = page_journal.read(path)
        assert (len(stored["pictures"]), stored[text[1:]]) == (1, "half a sentNe")
        await page.no_dialog()

    await page.show(PLACE)
    await page.evaluate(
        """content => {
            const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
            const image = new Blob([bytes], { type: "image/png" });
            return navigator.clipboard.write([new ClipboardItem({ "image/png": image })]);
        }""",
        b64encode(drawing("PNG", 65)).decode(),
    )
    await page.focus("#plan")
    await page.keys("Control+V")  # what the clipboard of the machine has
    await page.count(DRAWN, 2)
    await page.context.clear_permissions()
    await hand_over(page, "dragover", "h1", PNG)
    await page.wait_for_selector("#pictures.over")
    await hand_over(page, "drop", "h1", drawing("PNG", 66))
    await page.count(f"#pictures:not(.over) {DRAWN}", 3)
    assert [one["width"] for one in page_journal.read(DAY)["pictures"]] == [64, 65, 66]


async def test_a_picture_that_is_stored_before_its_trade_is_drawn_shows(
    page: Tab, page_journal: PageJournal
) -> None:
    path = f"/trades/{page_journal.add_trade()}"
    await page.sign_in(page_journal)
    async with page.expect_response(f"**/v1{path}") as read:
        await page.evaluate(
            f"""async ([path, content]) => {{
                window.pictures = await import("/page/{files.version()}/views/pictures.js");
                const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
                window.pictures.addPictures(path, [new File([bytes], "chart.png")]);
            }}""",
            [path, b64encode(PNG).decode()],
        )
    await (await read.value).finished()
    drawn = "path => document.body.append(window.pictures.pictureStrip(path, []))"  # as it was read before
    await page.evaluate(drawn, path)
    await page.count(".thumb", 1)


# Looking -------------------------------------------------------------------------------------------------


async def test_pictures_are_looked_at_captioned_and_deleted(page: Tab, page_journal: PageJournal) -> None:
    first, second, third = (add_picture(page_journal, drawing(kind)) for kind in ("PNG", "WEBP", "JPEG"))
    await page.sign_in(page_journal, "trades")
    await page.show(PLACE)
    await page.focus(f"#picture-{first}")
    await page.keys("Enter")
    await page.see("1 of 3", ".viewer")
    await expect(page.locator(".viewer img[src]")).to_have_attribute("alt", "Picture 1")
    async with page.held():
        await page.keys("ArrowRight", "ArrowRight", "ArrowRight")  # faster than the journal
    await page.see("3 of 3", ".viewer")
    await page.keys("ArrowLeft")
    await page.see("2 of 3", ".viewer")
    await page.type("#caption", "<b>The low</b>")
    await page.keys("ArrowLeft")  # moves the cursor
    await page.see("2 of 3", ".viewer")
    await page.keys("Escape")  # saves what was typed
    await page.no_dialog()
    await page.wait_for_selector(f"#picture-{second} img[alt='<b>The low</b>']")
    assert page_journal.read(f"/pictures/{second}")["caption"] == "<b>The low</b>"

    await page.click(f"#picture-{first}")
    await page.fill("#caption", "The high")
    await page.focus("#picture-after")
    await page.keys("Enter")
    await page.see("2 of 3", ".viewer")
    assert page_journal.read(f"/pictures/{first}")["caption"] == "The high"
    page_journal.patch(f"/pictures/{second}", caption="theirs")
    await page.enter("#caption", "mine")
    await page.see_all(".versions tbody tr", "Caption mine theirs")
    await page.press("Save mine", "dialog")
    await page.see("Saved.", "#caption-saved")
    assert page_journal.read(f"/pictures/{second}")["caption"] == "mine"

    for answer, left in (("Cancel", 3), ("Delete", 2), ("Delete", 1)):
        await page.press("Delete", ".viewer")
        await page.see("It cannot be brought back.", "dialog >> nth=-1")
        await page.press(answer, "dialog")
        await page.count("dialog", 1)
        await eventually(partial(is_stored, page_journal, left))
        await page.see(f"of {left}", ".viewer")
    await page.fill("#caption", "The last")
    await page.evaluate("history.back()")  # which leaves the picture too
    await page.drawn("trades")
    await page.no_dialog()
    (kept,) = page_journal.read(DAY)["pictures"]
    assert kept["caption"] == "The last"
    assert kept["id"] in (first, second, third)


async def test_pictures_are_read_in_sight_and_no_blob_stays(page: Tab, page_journal: PageJournal) -> None:
    for number in range(20):
        add_picture(page_journal, drawing("PNG", 64 + number), caption=f"Chart {number}")
    read: list[str] = []
    page.on("request", lambda request: read.append(request.url) if "/content" in request.url else None)
    await page.resize(360)
    await page.sign_in(page_journal, "settings")
    await page.evaluate("""
        window.blobs = new Set();
        const { createObjectURL: create, revokeObjectURL: revoke } = URL;
        URL.createObjectURL = (blob) => { const url = create(blob); window.blobs.add(url); return url; };
        URL.revokeObjectURL = (url) => { window.blobs.delete(url); revoke(url); };
    """)
    await page.show(PLACE)
    await page.evaluate("document.querySelector('#pictures').scrollIntoView()")
    await page.wait_for_selector(DRAWN)
    before = len(set(read))
    page_journal.patch(DAY, plan="drawn again")
    await page.poll()
    await page.holds("#plan", "drawn again")
    await page.evaluate("document.querySelector('.thumbs').lastChild.scrollIntoView()")
    await page.wait_for_selector(".thumb img[src][alt='Chart 19']")
    assert 1 <= before <= 6
    assert len(read) == len(set(read)) < 20, "a view that is drawn again reads no picture again"
    await page.wait_for_function("window.blobs.size === 0")

    for picture in range(3, 21):
        page_journal.delete(f"/pictures/{picture}")
    page_journal.run_sql("UPDATE pictures SET content_id = 1 + content_id % 2")  # as after a restore
    await page.reload()
    await page.count(DRAWN, 2)
    assert await page.locator(DRAWN).evaluate_all(WIDTHS) == [65, 64]
    async with page.away():
        await page.click(".thumb >> nth=0")
        await page.see("The journal does not answer.", "dialog >> nth=-1")
