"""Handlers of imports: upload a file of trades, or undo an import."""

from functools import partial

from aiosqlite import Connection
from msgspec import Raw, json
from msgspec.structs import replace
from starlette.requests import Request

from journal_api.database.user_threads import in_thread
from journal_api.imports import importer, previews
from journal_api.imports.file_accounts import AccountChoice, choose_timezone, map_accounts
from journal_api.imports.import_file import read_file
from journal_api.imports.undo import undo
from journal_api.repositories import accounts, imports
from journal_api.structs.import_answers import SaidColumn
from journal_api.structs.imports import Counts, ImportQuery, ImportReport, UndoQuery
from journal_api.trade_files import reader
from journal_api.trade_files.headers import UnknownHeader
from journal_api.trade_files.profiles.proposal import Proposal, propose_profile
from journal_api.values.money import ENCODER
from journal_api.web.bodies import Upload, cancel_on_disconnect, receive_upload
from journal_api.web.context import database
from journal_api.web.responses import Response, created, no_content, ok
from journal_api.web.writes import Write

# Ids in the header X-Trades-Kept, whose length servers and proxies limit; GET /trades?import_id= lists all.
MAX_KEPT_IDS = 100


async def list_imports(request: Request, db: Connection) -> Response:
    """List the caller's imports, newest first."""
    return ok(imports=await imports.list_of_user(db, request.user.id))


async def get_import(request: Request, db: Connection, import_id: int) -> Response:
    """Get an import: its file, its time and its number of rows by verdict."""
    stored = await imports.get(db, request.user.id, import_id)
    return ok(**{"import": stored})


async def create_import(request: Request, write: Write, query: ImportQuery) -> Response:
    """Import a file completely or not at all. A dry run reports the same verdicts and writes nothing.

    With the token `preview` of a dry run, the import does what that showed, or is refused.
    """
    async with receive_upload(request) as upload:
        return await cancel_on_disconnect(request, import_upload(request, write, query, upload))


async def import_upload(request: Request, write: Write, query: ImportQuery, upload: Upload) -> Response:
    """Read the uploaded file and import its trades in one transaction."""
    user_id, db = request.user.id, database(request).slow_reader
    choice = await read_account_choice(db, user_id, query)
    file = await read_file(
        *(db, user_id, upload.file, choice),
        timezone=query.timezone,
        date_order=query.date_order,
        day=query.day,
        one_trade_is=query.one_trade_is,
        force=query.force,
        skip_errors=query.skip_errors,
        long_only=query.long_only,
    )
    name = None if query.file_name is None else str(query.file_name)
    source = imports.Source(query.account_id, name, upload.sha256)
    unknown = reader.find_unknown(file) if query.dry_run else None
    if unknown:
        said = SaidColumn.collect(query.columns)
        proposal = await in_thread(user_id, partial(propose_profile, upload.file, unknown.doubts, said))
        if proposal is not None:
            timezone = await choose_timezone(db, user_id, choice, query.timezone)
            return ok(**{"import": report_unknown_header(source, timezone.name, proposal)})
    if isinstance(file, UnknownHeader):
        raise file.refusal(dry_run=query.dry_run)
    file_import = importer.FileImport(
        *(user_id, source, file, choice, partial(read_account_choice, user_id=user_id, query=query)),
        force=query.force,
        decisions={answer.line: answer.decision for answer in query.answers},
    )
    previews.require_same(query.preview, previews.build_token(upload.sha256, query, file))
    if query.dry_run:
        result = with_token(await file_import.preview(database(request)), upload, query, file)
        report = await in_thread(user_id, partial(build_report, result, source, file))
        return ok(**{"import": report})

    async def store(db: Connection) -> Response:
        result = with_token(await file_import.store(db), upload, query, file)
        report = build_report(result, source, file)
        return created(f"/v1/imports/{result.import_id}", **{"import": report})

    return await file_import.run(database(request), lambda: write(store))


def with_token(
    result: importer.ImportResult, upload: Upload, query: ImportQuery, file: reader.TradeFile
) -> importer.ImportResult:
    """Return the result with the token of its preview, unless a row is an error. Raises PreviewChanged."""
    if result.counts.error:
        return result
    token = previews.build_token(upload.sha256, query, file, result.digest)
    previews.require_same(query.preview, token)
    return result._replace(preview=result.preview and replace(result.preview, token=str(token)))


async def read_account_choice(db: Connection, user_id: int, query: ImportQuery) -> AccountChoice:
    """Return the account of the file, or the accounts by their names in it. Raises ValidationFailed."""
    await accounts.require(db, user_id, query.account_id, "account_id")
    return AccountChoice(query.account_id, await map_accounts(db, user_id, query.accounts))


def report_unknown_header(source: imports.Source, timezone: str, proposal: Proposal) -> str:
    """Return the report as JSON of a dry run of a file with an unknown header."""
    report = ImportReport(
        id=None,
        dry_run=True,
        format="unknown",
        **source._asdict(),
        timezone=timezone,
        timezone_source=None,
        replaced_timezones=[],
        encoding=proposal.encoding,
        date_order=None,
        one_trade_is="position",
        rounded=0,
        accounts=[],
        counts=Counts(),
        fees_applied=[],
        rows=[],
        columns=proposal.columns,
        sample_rows=proposal.sample_rows,
        proposed_profile=proposal.profile,
        proposal_warnings=proposal.warnings,
    )
    return json.encode(report).decode()


def build_report(result: importer.ImportResult, source: imports.Source, file: reader.TradeFile) -> str:
    """Return the report of an import, or of its dry run, as JSON."""
    members = {
        "id": result.import_id,
        "dry_run": result.import_id is None,
        "format": file.format,
        **source._asdict(),
        "timezone": file.timezone.name,
        "timezone_source": file.timezone.source,
        "replaced_timezones": sorted(file.timezone.replaced),
        "encoding": file.encoding,
        "date_order": file.dates._asdict() if file.dates.order else None,
        "one_trade_is": file.one_trade_is,
        "has_pairs": file.has_pairs,
        "rounded": file.rounded,
        "accounts": result.accounts,
        "counts": result.counts,
        "fees_applied": [
            {"account_id": fees.account_id, "rows": fees.rows, "total": Raw(f"{fees.total:f}".encode())}
            for fees in result.fees_applied
        ],
        "costs": result.costs,
        "accounts_without_costs": result.accounts_without_costs,
        "preview": result.preview,
        "left_out": file.left_out.report(),
        "warnings": file.left_out.warnings,
        "failed_check": bool(file.left_out.failed_checks),
        "open_at_end": result.open_at_end,
        "linked": result.linked,
        "ambiguous": Raw(ENCODER.encode(result.ambiguous)),
        "columns": None,
        "sample_rows": None,
        "proposed_profile": None,
        "proposal_warnings": None,
        "rows": result.verdicts,
    }
    return json.encode(members).decode()


async def delete_import(request: Request, db: Connection, import_id: int, query: UndoQuery) -> Response:
    """Take away what only the file of an import states; the trades are what follows from the other files.

    If the owner annotated trades that no other file has, `keep` or `force` must say what becomes of them.
    The header X-Trades-Kept lists up to 100 ids of trades that are kept, and the import is kept for them.
    X-Trades-Deleted and X-Trades-Annotated say how many trades go, X-Copies-Unlinked how many copies lose
    their original.
    """
    undone = await undo(db, request.user.id, import_id, force=query.force, keep=query.keep)
    headers = {
        "X-Trades-Deleted": str(undone.deleted),
        "X-Trades-Annotated": str(undone.annotated),
        "X-Copies-Unlinked": str(undone.unlinked),
    }
    if undone.kept:
        headers["X-Trades-Kept"] = ",".join(map(str, undone.kept[:MAX_KEPT_IDS]))
    return no_content(headers)
