"""Handlers of import profiles (docs/formats.md#profiles)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.errors import DuplicateName
from journal_api.repositories import import_profiles
from journal_api.structs.import_profiles import ImportProfileCreate
from journal_api.trade_files.known_formats import list_known_formats
from journal_api.web.responses import Response, created, no_content, ok


async def list_import_profiles(request: Request, db: Connection) -> Response:
    """List the caller's import profiles, by name."""
    return ok(import_profiles=await import_profiles.list_of_user(db, request.user.id))


async def get_import_profile(request: Request, db: Connection, profile_id: int) -> Response:
    """Get an import profile."""
    profile = await import_profiles.get(db, request.user.id, profile_id)
    return ok(import_profile=profile)


async def create_import_profile(request: Request, db: Connection, body: ImportProfileCreate) -> Response:
    """Create an import profile; files with its header are read by it, before the built-in formats."""
    if body.name in {known.name for known in list_known_formats()}:
        raise DuplicateName("This is the name of a built-in format; choose another one.")
    profile_id = await import_profiles.insert(db, request.user.id, body)
    profile = await import_profiles.get(db, request.user.id, profile_id)
    return created(f"/v1/import-profiles/{profile_id}", import_profile=profile)


async def delete_import_profile(request: Request, db: Connection, profile_id: int) -> Response:
    """Delete an import profile; trades that were imported by it stay."""
    await import_profiles.delete(db, request.user.id, profile_id)
    return no_content()
