"""Pictures of trades and days: what is stored of a file, who may see it, and what it goes with."""

import asyncio
import io
import shutil
import struct
import subprocess
import tracemalloc
from pathlib import Path
from typing import Any

import factories
import httpx
import pytest
from conftest import client_of, new_key_for, opened
from factories import Client, details_of, error_of, run_sql, unwrap
from hypothesis import given
from hypothesis import strategies as st
from pictures import EXIF, GIF, HEADERS, PNG, WEBP_PIXELS, XMP, big_png, jpeg, png, png_chunk, riff, webp, webp_chunk
from PIL import Image, ImageCms, ImageSequence
from PIL.PngImagePlugin import PngInfo
from saved_journals import for_rows
from starlette.applications import Starlette

from journal_api.rules.picture_formats.cleaning import clean, find_media_type
from journal_api.rules.picture_formats.parts import DamagedPicture
from journal_api.settings import Settings
from journal_api.structs.pictures import PART

DAY = f"/days/{factories.A_DAY}"
KINDS = ("PNG", "JPEG", "WEBP")


async def post(client: Client, file: bytes, path: str = DAY, **headers: str) -> httpx.Response:
    return await client.post(f"{path}/pictures", content=file, headers=HEADERS | headers)


async def content_of(client: Client, picture: Any) -> bytes:
    return (await client.get(f"/pictures/{picture['id']}/content")).content


async def pictures_of(client: Client, trade: Any) -> list[int]:
    return [one["id"] for one in unwrap(await client.get(f"/trades/{trade['id']}"))["pictures"]]


async def stored_rows(app: Starlette) -> list[int]:
    """The number of pictures, of contents and of parts."""
    tables = ("pictures", "picture_contents", "picture_parts")
    return [(await run_sql(app, f"SELECT count(*) FROM {table}"))[0][0] for table in tables]


def photograph(kind: str) -> bytes:
    """A picture of a phone that lies on its side, with all metadata that the format takes."""
    picture = Image.radial_gradient("L").resize((64, 40)).convert("RGB")
    exif = Image.Exif()
    exif[0x010F], exif[0x0112] = "SECRET", 6
    exif.get_ifd(0x8825).update({1: "N", 2: (52.0, 31.0, 12.0)})
    texts = PngInfo()
    texts.add_text("Comment", "SECRET")
    texts.add_itxt("XML:com.adobe.xmp", XMP.decode())
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    options: dict[str, dict[str, Any]] = {
        "PNG": {"exif": exif, "pnginfo": texts, "icc_profile": profile},
        "JPEG": {"exif": exif, "xmp": XMP, "comment": b"SECRET", "icc_profile": profile, "progressive": True},
        "WEBP": {"exif": exif, "xmp": XMP, "icc_profile": profile},
    }
    file = io.BytesIO()
    picture.save(file, kind, **options[kind])
    assert b"SECRET" in file.getvalue()
    return file.getvalue()


def drawn(file: bytes) -> list[bytes]:
    """The pixels of every frame."""
    with Image.open(io.BytesIO(file)) as picture:
        return [frame.convert("RGBA").tobytes() for frame in ImageSequence.Iterator(picture)]


# What is stored ------------------------------------------------------------------------------------------


@pytest.mark.promise(26)
@for_rows("kind", KINDS)
async def test_a_photograph_is_shown_as_it_was_without_its_metadata(client: Client, kind: str) -> None:
    sent = photograph(kind)

    picture = unwrap(await post(client, sent + b"<script>after the end</script>"))

    stored = await content_of(client, picture)
    assert drawn(stored) == drawn(sent)
    assert not [word for word in (b"SECRET", b"xmpmeta", b"GPS", b"script") if word in stored]
    with Image.open(io.BytesIO(stored)) as shown:
        assert dict(shown.getexif()) == {0x0112: 6}
        assert "icc_profile" not in shown.info
    assert (picture["media_type"], picture["bytes"]) == (f"image/{kind.lower()}", len(stored))
    assert (picture["width"], picture["height"]) == (40, 64)


@pytest.mark.promise(26)
@pytest.mark.skipif(shutil.which("exiftool") is None, reason="exiftool is not installed")
@pytest.mark.parametrize("kind", KINDS)
async def test_exiftool_finds_no_metadata_but_the_orientation(client: Client, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "stored"
    file.write_bytes(await content_of(client, unwrap(await post(client, photograph(kind)))))

    told = await asyncio.to_thread(
        lambda: subprocess.run(["exiftool", "-G1", "-a", "-u", "-s", file], capture_output=True).stdout.decode()
    )

    found = {tuple(line[1:].split(":")[0].replace("]", "").split()) for line in told.splitlines()}
    of_the_format = {"PNG", "JFIF", "RIFF"}
    of_any = {"ExifTool", "System", "File", "Composite"}
    assert found - {("IFD0", "Orientation")} <= {one for one in found if one[0] in of_the_format | of_any}
    assert not [word for word in ("Warning", "Error", "SECRET") if word in told]


METADATA: dict[str, tuple[bytes, bytes]] = {
    "PNG texts, time and profile": (
        png(3, 2, (b"tEXt", b"Comment\0SECRET"), (b"iTXt", XMP), (b"tIME", bytes(7)), (b"iCCP", b"SECRET")),
        png(),
    ),
    "PNG chunks of one's own": (png(3, 2, (b"seCr", b"SECRET"), (b"gAMA", b"SECRET")), png()),
    "PNG after its end": (png(end=b"PK\x03\x04SECRET"), png()),
    "JPEG comment, XMP, IPTC and thumbnails": (
        jpeg((0xFE, b"SECRET"), (0xE1, XMP), (0xED, b"Photoshop 3.0\0SECRET"), (0xE0, b"JFXX\0SECRET")),
        jpeg(),
    ),
    "JPEG with a thumbnail in JFIF": (
        jpeg((0xE0, b"JFIF\0\1\2\0\0\1\0\1\1\1SECRET")),
        jpeg((0xE0, b"JFIF\0\1\2\0\0\1\0\1\0\0")),
    ),
    "JPEG with another picture after its end": (jpeg(end=jpeg((0xFE, b"SECRET"))), jpeg()),
    "PNG frames without an animation": (
        png(3, 2, (b"fcTL", bytes(26)), (b"fdAT", b"SECRET"), after=((b"fdAT", b"SECRET"), (b"tRNS", b"SECRET"))),
        png(),
    ),
    "PNG chunks twice": (png(3, 2, (b"gAMA", bytes(4)), (b"gAMA", b"SECR")), png(3, 2, (b"gAMA", bytes(4)))),
    "PNG with something at its end": (PNG[:-12] + png_chunk(b"IEND", b"SECRET"), PNG),
    "JPEG tables that nothing uses": (
        jpeg((0xDB, b"\x03" + b"SECRET".ljust(64)), (0xC4, b"\x02" + b"\x10" * 16 + b"SECRET".ljust(256))),
        jpeg(),
    ),
    "JPEG tables that are replaced": (jpeg((0xDB, b"\0" + b"SECRET".ljust(64))), jpeg()),
    "JPEG lines before the picture": (jpeg((0xDC, b"SE")), jpeg()),
    "JPEG settings before its tables": (
        jpeg((0xCC, b"\0\1\x10\1")),
        jpeg().replace(b"\xff\xda", b"\xff\xcc\0\6\0\1\x10\1\xff\xda"),
    ),
    "JPEG twice of JFIF and of what Adobe says": (
        jpeg(*[(0xE0, b"JFIF\0\1\2\0\0\1\0\1\0\0"), (0xEE, b"Adobe" + bytes(7))] * 2),
        jpeg((0xE0, b"JFIF\0\1\2\0\0\1\0\1\0\0"), (0xEE, b"Adobe" + bytes(7))),
    ),
    "WebP chunks of one's own": (webp((b"seCr", b"SECRET"), (b"ALPH", b"SECRET")), webp(flags=0)),
    "WebP without its extended header": (
        riff(webp_chunk(*WEBP_PIXELS) + webp_chunk(b"XMP ", XMP)),
        riff(webp_chunk(*WEBP_PIXELS)),
    ),
}


@for_rows("sent, kept", METADATA.values())
async def test_what_is_not_shown_is_not_stored(client: Client, sent: bytes, kept: bytes) -> None:
    stored = await content_of(client, unwrap(await post(client, sent)))

    assert stored == kept


async def test_a_webp_without_metadata_has_no_flags_of_it(client: Client) -> None:
    file = webp((b"EXIF", b"Exif\0\0"), (b"XMP ", XMP), (b"ICCP", b"SECRET"), end=b"SECRET")

    stored = await content_of(client, unwrap(await post(client, file)))

    assert len(stored) == len(webp())
    assert stored[20] == 0


async def test_a_webp_that_cannot_have_exif_is_as_wide_as_its_pixels(client: Client) -> None:
    plain = webp((b"EXIF", EXIF))
    file = b"RIFF" + struct.pack("<I", len(plain) - 26) + b"WEBP" + plain[30:]

    picture = unwrap(await post(client, file))
    turned = unwrap(await post(client, plain))

    assert (picture["width"], picture["height"]) == (4, 3)
    assert (turned["width"], turned["height"]) == (3, 4)


# Hostile files -------------------------------------------------------------------------------------------


def nest(depth: int) -> bytes:
    """Frames of an animation, each in another."""
    frame = b""
    for _ in range(depth):
        frame = webp_chunk(b"ANMF", bytes(16) + frame)
    return frame


HUGE = png(20_000, 5_001, pixels=b"")
HOSTILE: dict[str, tuple[bytes, int, str]] = {
    "nothing": (b"", 415, "is none of"),
    "SVG": (b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', 415, "is none of"),
    "HTML": (b"<html><script>alert(1)</script>", 415, "is none of"),
    "HEIC": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", 415, "is none of"),
    "BMP": (b"BM" + bytes(50), 415, "is none of"),
    "PDF": (b"%PDF-1.7", 415, "is none of"),
    "RIFF that is a sound": (b"RIFF\x04\0\0\0WAVE", 415, "is none of"),
    "the signature of PNG alone": (PNG[:8], 400, "ends too soon"),
    "PNG without its last byte": (PNG[:-1], 400, "ends too soon"),
    "PNG with a chunk of 4 GiB": (PNG[:8] + b"\xff\xff\xff\xffIHDR", 400, "wrong length"),
    "PNG with a wrong checksum": (PNG[:-1] + b"\0", 400, "wrong checksum"),
    "PNG without pixels": (PNG[:33] + png_chunk(b"IEND", b""), 400, "has no picture"),
    "PNG of no size": (png(0, 2, pixels=b""), 400, "states no size"),
    "PNG of iOS": (PNG[:33] + png_chunk(b"CgBI", b"1234") + PNG[33:], 400, "cannot be left out"),
    "PNG of 100.02 megapixels": (HUGE, 400, "more than 100 megapixels"),
    "PNG of 300,000 chunks": (PNG[:33] + png_chunk(b"tEXt", b"") * 300_000, 400, "more than 200000 parts"),
    "JPEG of nothing but its marker": (b"\xff\xd8\xff", 400, "ends too soon"),
    "JPEG with a segment of no length": (b"\xff\xd8\xff\xfe\0\0", 400, "wrong length"),
    "JPEG whose scan does not end": (jpeg()[:-2] + b"\xff" * 1_000_000, 400, "ends too soon"),
    "JPEG of nothing but fill bytes": (b"\xff\xd8" + b"\xff" * 1_000_000, 400, "200000 parts"),
    "JPEG of two frames": (jpeg((0xC0, bytes(15))), 400, "more than one frame"),
    "JPEG without a picture": (b"\xff\xd8\xff\xd9", 400, "has no picture"),
    "JPEG with a table that runs out": (jpeg((0xC4, b"\0" + b"\xff" * 16)), 400, "ends too soon"),
    "JPEG with a table of 257 values": (jpeg((0xC4, b"\0\x11" + b"\x10" * 15 + bytes(257))), 400, "too long"),
    "JPEG with a scan of no length": (jpeg((0xDA, b"")), 400, "before its frame"),
    "JPEG whose interval is a text": (jpeg((0xDD, b"SECRET")), 400, "damaged segment 0xdd"),
    "WebP of a wrong size": (webp()[:4] + b"\xff\xff\xff\x7f" + webp()[8:], 400, "wrong length"),
    "WebP without pixels": (b"RIFF\x04\0\0\0WEBP", 400, "has no picture"),
    "WebP of two pictures": (webp(WEBP_PIXELS), 400, "more than one picture"),
    "WebP of two sizes": (webp().replace(b"\3\0\0\2\0\0VP8L", b"\4\0\0\2\0\0VP8L"), 400, "damaged header"),
    "WebP with a damaged frame": (webp((b"ANMF", b"12")), 400, "is animated"),
    "WebP of a thousand nested frames": (webp((b"ANMF", nest(1000))), 400, "is animated"),
    "PNG that is animated": (png(3, 2, (b"acTL", bytes(8))), 400, "is animated: save one frame"),
    "PNG with pixels in two places": (png(3, 2, after=((b"tEXt", b""), (b"IDAT", b"SECRET"))), 400, "two places"),
    "PNG with two palettes": (png(3, 2, *[(b"PLTE", bytes(3))] * 2), 400, "cannot be left out"),
    "GIF": (b"GIF89a" + b"\xff" * 99, 415, "Save the picture as PNG"),
    "AVIF": (b"\0\0\0\x14ftypavif\0\0\0\0mif1", 415, "is none of"),
}


@pytest.mark.promise(26)
@for_rows("file, status, reason", HOSTILE.values())
async def test_a_file_that_is_no_whole_picture_is_refused_with_the_reason(
    app: Starlette, client: Client, file: bytes, status: int, reason: str
) -> None:
    refused = await post(client, file)

    assert refused.status_code == status
    assert reason in refused.json()["error"]["message"]
    assert await stored_rows(app) == [0, 0, 0]


SOUND = [photograph(kind) for kind in KINDS]


@given(
    file=st.sampled_from(SOUND),
    changes=st.lists(st.tuples(st.integers(0, 2**20), st.binary(min_size=1, max_size=4)), max_size=4),
    end=st.integers(0, 2**20),
)
def test_a_file_changed_anywhere_is_refused_or_stays_the_same_when_it_is_cleaned_again(
    file: bytes, changes: list[tuple[int, bytes]], end: int
) -> None:
    damaged = bytearray(file)
    for at, new in changes:
        damaged[at % len(file) : at % len(file) + len(new)] = new
    data = bytes(damaged[: end % (2 * len(file)) or None])
    media_type = find_media_type(data)
    if media_type is None:
        return
    try:
        once = clean(data, media_type)
    except DamagedPicture:
        return

    assert clean(bytes(once.content), media_type) == once
    assert len(once.content) <= len(data) + 100


LARGE = 4 * 2**20
FILLED = {
    "PNG": png(3, 2, pixels=bytes(LARGE)),
    "JPEG": jpeg()[:-2] + bytes(LARGE) + b"\xff\xd9",
    "WebP": riff(webp_chunk(b"VP8L", WEBP_PIXELS[1] + bytes(LARGE))),
}


@pytest.mark.promise(26)
@pytest.mark.parametrize("file", FILLED.values(), ids=FILLED)
def test_a_picture_is_in_memory_once_more_while_it_is_cleaned(file: bytes) -> None:
    media_type = find_media_type(file)
    assert media_type is not None
    tracemalloc.start()
    try:
        clean(file, media_type)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 1.3 * len(file)


# Types and limits ----------------------------------------------------------------------------------------


async def test_the_type_is_that_of_the_first_bytes_whatever_the_header_says(client: Client) -> None:
    picture = unwrap(await post(client, PNG, **{"Content-Type": "image/jpeg"}))

    assert picture["media_type"] == "image/png"
    refused = await post(client, GIF, **{"Content-Type": "image/gif"})
    assert "Send the body as image/png or image/jpeg or image/webp" in refused.json()["error"]["message"]
    for header in ("image/svg+xml", "text/html", "application/octet-stream"):
        assert error_of(await post(client, PNG, **{"Content-Type": header})) == (415, "unsupported_media_type")


async def test_a_picture_may_have_ten_mebibytes(client: Client) -> None:
    largest = big_png(10 * 2**20 - len(big_png(0)))

    assert len(largest) == 10 * 2**20
    assert unwrap(await post(client, largest))["bytes"] == len(largest)
    refused = await post(client, largest + b"x")
    assert (error_of(refused), details_of(refused)) == ((413, "request_too_large"), {"max_bytes": 10 * 2**20})


async def test_the_settings_limit_the_pictures_of_a_day_and_of_a_user(tmp_path: Path) -> None:
    async with opened(Settings(db=tmp_path / "journal.db", max_pictures_each=2, max_pictures=3)) as client:
        await factories.create_picture(client)
        await factories.create_picture(client)

        too_many_a_day = await post(client, PNG)
        await factories.create_picture(client, "/days/2026-01-06")
        too_many = await post(client, PNG, "/days/2026-01-07")

    assert (error_of(too_many_a_day), details_of(too_many_a_day)) == (
        (429, "limit_reached"),
        {"limit": 2, "current": 2},
    )
    assert details_of(too_many) == {"limit": 3, "current": 3}


# The resource --------------------------------------------------------------------------------------------


async def test_pictures_are_in_the_order_of_their_numbers_then_of_their_ids(client: Client) -> None:
    made = [await factories.create_picture(client) for _ in range(3)]

    unwrap(await client.patch(f"/pictures/{made[0]['id']}", json={"sort_order": 2, "caption": "Low\nof the day"}))

    listed = unwrap(await client.get(f"{DAY}/pictures"))
    assert [one["sort_order"] for one in made] == [0, 1, 2]
    assert [one["id"] for one in listed] == [made[1]["id"], made[0]["id"], made[2]["id"]]
    assert listed[1]["caption"] == "Low\nof the day"
    assert {(one["trade_id"], one["day"]) for one in listed} == {(None, factories.A_DAY)}


async def test_a_picture_of_a_trade_edits_the_trade(client: Client) -> None:
    trade = await factories.create_trade(client)
    path = f"/trades/{trade['id']}"
    versions = [trade["updated_at"]]

    picture = await factories.create_picture(client, path)
    shown = unwrap(await client.get(path))
    assert shown["pictures"] == [picture]
    assert unwrap(await client.patch(path, json=shown)) == shown
    assert error_of(await client.patch(path, json={**trade, "notes": "Stale"}))[0] == 412
    versions.append(shown["updated_at"])
    unwrap(await client.patch(f"/pictures/{picture['id']}", json={"caption": "New"}))
    versions.append(unwrap(await client.get(path))["updated_at"])
    unwrap(await client.patch(f"/pictures/{picture['id']}", json={"caption": "New"}))
    assert unwrap(await client.get(path))["updated_at"] == versions[-1]
    await client.delete(f"/pictures/{picture['id']}")
    versions.append(unwrap(await client.get(path))["updated_at"])

    assert versions == sorted(set(versions))
    assert unwrap(await client.get(path))["pictures"] == []
    assert "pictures" not in unwrap(await client.get("/trades"))[0]


async def test_the_content_is_sent_in_parts_and_kept_by_the_browser(client: Client) -> None:
    file = big_png(3 * PART)
    picture = await factories.create_picture(client, file=file)
    path = f"/pictures/{picture['id']}/content"

    answer = await client.get(path)
    again = await client.get(path, headers={"If-None-Match": answer.headers["etag"]})
    head = await client.head(path)

    assert answer.content == file
    assert dict(answer.headers) | {
        "content-type": "image/png",
        "content-length": str(len(file)),
        "etag": f'"{picture["sha256"]}"',
        "cache-control": "private, max-age=31536000, immutable",
        "vary": "Authorization",
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox; default-src 'none'",
        "content-disposition": f'inline; filename="picture-{picture["id"]}.png"',
    } == dict(answer.headers)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", answer.headers["etag"])
    assert head.headers["content-length"] == str(len(file))


async def test_a_repeated_upload_is_stored_once(app: Starlette, client: Client) -> None:
    first = await post(client, PNG, **{"Idempotency-Key": "one"})
    second = await post(client, PNG, **{"Idempotency-Key": "one"})
    other = await post(client, png(5, 5), **{"Idempotency-Key": "one"})

    assert first.json()["data"] == second.json()["data"]
    assert error_of(other) == (409, "idempotency_conflict")
    assert (await stored_rows(app))[0] == 1


@for_rows("of", ["trades", "days"])
async def test_a_key_needs_the_scope_of_the_trade_or_the_day(app: Starlette, client: Client, of: str) -> None:
    trade = await factories.create_trade(client)
    picture = await factories.create_picture(client, f"/trades/{trade['id']}" if of == "trades" else DAY)
    path = f"/pictures/{picture['id']}"
    other = "days" if of == "trades" else "trades"
    wrong = (f"read:{other}", f"write:{other}")

    async with client_of(app, await new_key_for(app, scopes=wrong)) as stranger:
        refused = [
            *[await stranger.get(path), await stranger.get(f"{path}/content")],
            *[await stranger.patch(path, json={}), await stranger.delete(path)],
            await stranger.delete(path, headers={"If-Match": "*"}),
        ]
    async with client_of(app, await new_key_for(app, scopes=(f"write:{of}",))) as writer:
        unreadable = await writer.get(path)
        etag = (await client.get(path)).headers["etag"]
        written = await writer.patch(path, json={"caption": "New"}, headers={"If-Match": etag})

    scopes = [details_of(answer)["required_scope"].partition(":") for answer in refused]
    assert scopes == [("read", ":", of)] * 2 + [("write", ":", of)] * 3
    assert error_of(unreadable) == (403, "forbidden_scope")
    assert unwrap(written)["caption"] == "New"


# What it goes with ---------------------------------------------------------------------------------------


async def test_the_same_picture_is_stored_once_for_each_user_and_goes_with_its_last_use(
    app: Starlette, client: Client, other_user_client: Client
) -> None:
    trade = await factories.create_trade(client)
    of_trade = await factories.create_picture(client, f"/trades/{trade['id']}")
    of_day = await factories.create_picture(client)
    await factories.create_picture(other_user_client)
    counts = [await stored_rows(app)]

    await client.delete(f"/trades/{trade['id']}")
    counts.append(await stored_rows(app))
    assert await content_of(client, of_day) == PNG
    await client.delete(f"/pictures/{of_day['id']}")
    counts.append(await stored_rows(app))

    assert of_trade["sha256"] == of_day["sha256"]
    assert counts == [[3, 2, 2], [2, 2, 2], [1, 1, 1]]


async def test_merged_trades_show_all_pictures_and_split_trades_their_own_again(
    client: Client, account_id: int
) -> None:
    first, second = [await factories.create_trade(client, account_id) for _ in range(2)]
    late, early = [await factories.create_picture(client, f"/trades/{trade['id']}") for trade in (second, first)]
    deleted = await factories.create_picture(client, f"/trades/{second['id']}")

    unwrap(await client.post("/trades/merge", json={"ids": [first["id"], second["id"]]}))
    merged = await pictures_of(client, first)
    added = await factories.create_picture(client, f"/trades/{first['id']}")
    await client.delete(f"/pictures/{deleted['id']}")
    unwrap(await client.post(f"/trades/{first['id']}/split"))

    assert merged == [early["id"], late["id"], deleted["id"]]
    assert await pictures_of(client, first) == [early["id"], added["id"]]
    assert await pictures_of(client, second) == [late["id"]]


async def test_an_undone_import_keeps_a_trade_with_a_picture_unless_it_is_forced(
    app: Starlette, client: Client
) -> None:
    imported = await factories.create_import(client)
    (trade,) = unwrap(await client.get("/trades", params={"import_id": imported["id"]}))
    await factories.create_picture(client, f"/trades/{trade['id']}")

    kept = await client.delete(f"/imports/{imported['id']}")
    assert error_of(kept) == (409, "trades_kept")
    forced = await client.delete(f"/imports/{imported['id']}", params={"force": "true"})

    assert forced.headers["x-trades-annotated"] == "1"
    assert await stored_rows(app) == [0, 0, 0]


async def test_a_picture_that_is_deleted_while_it_is_sent_ends_the_response(app: Starlette, client: Client) -> None:
    picture = await factories.create_picture(client, file=big_png(3 * PART))
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)
        if len(messages) == 2:
            await run_sql(app, "DELETE FROM pictures")

    async def receive() -> Any:
        raise AssertionError("a GET has no body")

    path = f"/v1/pictures/{picture['id']}/content"
    names = (b"authorization", client.headers["authorization"].encode()), (b"host", b"localhost")
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": list(names)}
    await app(scope, receive, send)

    assert [len(message.get("body", b"")) for message in messages] == [0, PART]
