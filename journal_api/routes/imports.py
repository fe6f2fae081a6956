"""Imports of files, and taking them back: DECISIONS 32."""

from functools import partial

from aiosqlite import Connection
from msgspec import Raw, json
from starlette.requests import Request

from journal_api.repositories import accounts, imports, users
from journal_api.structs.imports import ImportQuery, UndoQuery
from journal_api.trade_files import importer, reader
from journal_api.trade_files.import_report import EncodedVerdicts
from journal_api.trade_files.threads import in_thread
from journal_api.values.types import is_yes
from journal_api.web.bodies import Upload, uploaded, while_wanted
from journal_api.web.context import database
from journal_api.web.decoding import decode_query
from journal_api.web.responses import Response, created, no_content, ok

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
        return await while_wanted(request, import_upload(request, query, upload))


async def import_upload(request: Request, query: ImportQuery, upload: Upload) -> Response:
    user_id, db = request.user.id, database(request).slow_reader
    timezone = str(query.timezone or (await users.find(db, user_id)).timezone)
    in_one = query.account_id is not None
    file = await in_thread(user_id, partial(reader.read, upload.file, timezone, into_one_account=in_one))
    name = None if query.file_name is None else str(query.file_name)
    source = imports.Source(query.account_id, name, upload.sha256, timezone)
    if is_yes(query.dry_run):
        _, report = await import_with_report(database(request), user_id, source, file, dry_run=True)
        return ok(**{"import": report})
    import_id, report = await import_with_report(database(request), user_id, source, file, dry_run=False)
    return created(f"/v1/imports/{import_id}", **{"import": report})


async def import_with_report(
    opened: importer.Transactions,
    user_id: int,
    source: imports.Source,
    file: reader.TradeFile,
    *,
    dry_run: bool,
) -> tuple[int | None, str]:
    """Return the id of the import, None for a dry run, and the report as JSON. Raises ValidationFailed."""

    async def account_in(db: Connection) -> int | None:
        await accounts.require(db, user_id, source.account_id)
        return source.account_id

    rows = EncodedVerdicts()
    import_id, counts = await importer.import_trades(
        opened, user_id, source, file, rows.add, dry_run=dry_run, account_in=account_in
    )

    def report() -> str:
        members = {
            "id": import_id,
            "dry_run": dry_run,
            "format": file.format,
            **source._asdict(),
            "counts": counts,
            "rows": Raw(rows.encoded()),
        }
        return json.encode(members).decode()

    return import_id, await in_thread(user_id, report)


async def delete_import(request: Request) -> Response:
    """Take back what an import added and changed, but for trades that were edited since.

    Those are named in X-Trades-Kept, up to 100 of them, and the import stays with them; `force` takes all.
    """
    query = decode_query(request, UndoQuery)
    async with database(request).transaction() as db:
        kept = await imports.undo(db, request.user.id, request.path_params["id"], force=is_yes(query.force))
    return no_content(x_trades_kept=",".join(map(str, kept[:MOST_NAMED]))) if kept else no_content()
