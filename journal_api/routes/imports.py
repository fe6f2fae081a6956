"""Imports of files, and taking them back: DECISIONS 32."""

import asyncio

from aiosqlite import Connection
from msgspec import Raw, json
from starlette.requests import Request

from journal_api import importing
from journal_api.codec import database, decode_query, uploaded
from journal_api.envelope import Response, created, no_content, ok
from journal_api.repositories import accounts, imports, users
from journal_api.structs.imports import ImportQuery, UndoQuery, Verdict, is_yes

# As many ids as a header holds anywhere; GET /trades?import_id= lists them all.
MOST_NAMED = 100


async def list_imports(request: Request) -> Response:
    """The caller's imports, newest first."""
    return ok(imports=await imports.list_of_user(database(request).reader, request.user.id))


async def get_import(request: Request) -> Response:
    """One import: which file, when, and how many rows of each verdict."""
    found = await imports.get(database(request).reader, request.user.id, request.path_params["id"])
    return ok(**{"import": found})


async def create_import(request: Request) -> Response:
    """Import a file, all of it or nothing. A dry run tells the same verdicts and writes nothing."""
    query = decode_query(request, ImportQuery)
    async with uploaded(request) as upload:
        reader = database(request).slow_reader
        timezone = str(query.timezone or (await users.find(reader, request.user.id)).timezone)
        in_one = query.account_id is not None
        file = await asyncio.to_thread(importing.read, upload.file, timezone, into_one_account=in_one)
        name = None if query.file_name is None else str(query.file_name)
        source = imports.Source(query.account_id, name, upload.sha256, timezone)
        if is_yes(query.dry_run):
            _, report = await bring_in(reader, request.user.id, source, file, dry_run=True)
            return ok(**{"import": report})
        async with database(request).transaction() as db:
            import_id, report = await bring_in(db, request.user.id, source, file, dry_run=False)
    return created(f"/v1/imports/{import_id}", **{"import": report})


async def bring_in(
    db: Connection, user_id: int, source: imports.Source, file: importing.TradeFile, *, dry_run: bool
) -> tuple[int | None, str]:
    """The id of the import, None for a dry run, and the report as JSON. Raises ValidationFailed."""
    await accounts.require(db, user_id, source.account_id)
    rows: list[tuple[int, bytes]] = []

    def tell(verdicts: list[Verdict]) -> None:
        rows.extend((one.line, json.encode(one)) for one in verdicts)

    import_id, counts = await imports.bring_in(db, user_id, source, file, tell, dry_run=dry_run)
    report = {
        "id": import_id,
        "dry_run": dry_run,
        "format": file.format,
        **source._asdict(),
        "counts": counts,
        "rows": Raw(b"[%b]" % b",".join(row for _, row in sorted(rows, key=lambda one: one[0]))),
    }
    return import_id, json.encode(report).decode()


async def delete_import(request: Request) -> Response:
    """Take back what an import added and changed, but for trades that were edited since.

    Those are named in X-Trades-Kept, up to 100 of them, and the import stays with them; `force` takes all.
    """
    query = decode_query(request, UndoQuery)
    async with database(request).transaction() as db:
        kept = await imports.undo(db, request.user.id, request.path_params["id"], force=is_yes(query.force))
    return no_content(x_trades_kept=",".join(map(str, kept[:MOST_NAMED]))) if kept else no_content()
