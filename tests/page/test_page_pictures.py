"""Pictures on the page at / (docs/journal.md#on-the-page)."""

import asyncio
import io
from base64 import b64encode
from typing import Any

from chromium import PageJournal, Tab, in_a_browser
from factories import unwrap
from pictures import PNG
from PIL import Image
from playwright.async_api import Route, expect

pytestmark = in_a_browser
DAY = "/days/2026-01-05"
PLACE = "day/2026-01-05"
DRAWN = ".thumb img[src]"
ALERT = "#pictures [role=alert]"


def drawing(kind: str, width: int = 64, height: int = 40, **options: Any) -> bytes:
    """A picture that a browser draws."""
    file = io.BytesIO()
    Image.radial_gradient("L").resize((width, height)).convert("RGB").save(file, kind, **options)
    return file.getvalue()


async def see_widths(page: Tab, *widths: int) -> None:
    """Wait until images of these widths are drawn, and no other; a view is drawn again meanwhile."""
    await page.wait_for_function(
        """([drawn, ...widths]) =>
            [...document.querySelectorAll(drawn)].map((one) => one.naturalWidth).join() === widths.join()""",
        arg=[DRAWN, *widths],
    )


async def choose_files(page: Tab, **contents: bytes) -> None:
    """Choose files by their names, whose dot is a double underscore."""
    await page.set_input_files(
        "#add-picture",
        [
            {"name": name.replace("__", "."), "mimeType": "application/octet-stream", "buffer": content}
            for name, content in contents.items()
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


async def test_pictures_are_pasted_dropped_looked_at_captioned_and_deleted(
    page: Tab, page_journal: PageJournal
) -> None:
    await page.sign_in(page_journal, PLACE)
    await page.type("#review", "half a sente")
    await page.keys("ArrowLeft")
    await hand_over(page, "paste", "#review", drawing("PNG"))
    await page.wait_for_selector(DRAWN)
    await hand_over(page, "paste", "#review", PNG, "a table")  # its text belongs into the field
    await page.keyboard.type("N")
    await page.holds("#review", "half a sentNe")
    await page.keys("Tab")
    await page.gone("form[data-changed]")
    stored = page_journal.read(DAY)
    assert (len(stored["pictures"]), stored["review"]) == (1, "half a sentNe")
    await hand_over(page, "dragover", "h1", PNG)
    await page.wait_for_selector("#pictures.over")
    await hand_over(page, "drop", "h1", drawing("PNG", 66))
    await see_widths(page, 64, 66)
    await page.gone("#pictures.over")
    await choose_files(page, page__png=b"<!doctype html>", converted__gif=drawing("GIF", 40))
    await see_widths(page, 64, 66, 40)
    await page.see("page.png: The file is none of image/png", ALERT)

    first, second, third = 1, 2, 3
    await page.show("trades")
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

    await page.click(f"#picture-{second}")
    await page.press("Delete", ".viewer")
    await page.see("It cannot be brought back.", "dialog >> nth=-1")
    await page.press("Delete", "dialog")
    await page.see("of 2", ".viewer")
    await page.click("#picture-before")
    await page.see("1 of 2", ".viewer")
    await page.fill("#caption", "The last")
    await page.evaluate("history.back()")  # which leaves the picture too
    await page.drawn("trades")
    await page.no_dialog()
    kept = page_journal.read(DAY)["pictures"]
    assert [(one["id"], one["caption"]) for one in kept] == [(first, "The last"), (third, None)]
    assert kept[-1]["media_type"] == "image/png"


async def test_a_press_is_not_lost_while_pictures_arrive_and_are_added(page: Tab, page_journal: PageJournal) -> None:
    arrives = asyncio.Event()

    async def wait_for_it(route: Route) -> None:
        await arrives.wait()
        await route.continue_()

    unwrap(page_journal.client.post(f"{DAY}/pictures", content=drawing("PNG")))
    await page.page.route("**/content", wait_for_it, times=1)
    await page.sign_in(page_journal, PLACE)
    await page.evaluate("performance.now = () => 0")  # a press of no time, however busy the machine is
    await page.hover(".thumb")
    await page.mouse.down()
    arrives.set()
    await see_widths(page, 64)
    async with page.expect_response(f"**{DAY}/pictures"):
        await choose_files(page, b__png=PNG)  # draws all anew
    await page.evaluate("fetch('/health')")
    await page.mouse.up()
    await page.see("1 of ", ".viewer")
    await page.keys("Escape")
    await page.click("#picture-2")
    async with page.expect_response("**/pictures/1"), page.held():
        await page.press("Previous picture")
        await page.hover(".viewer .danger")
        await page.mouse.down()
    await page.evaluate("fetch('/health')")
    await page.mouse.up()
    await page.see("Delete this picture?", "dialog >> nth=-1")
