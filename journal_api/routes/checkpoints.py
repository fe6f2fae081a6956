"""Handlers of checkpoints: what the broker said the balance was (docs/accounts.md#checkpoints)."""

from aiosqlite import Connection
from starlette.requests import Request

from journal_api.repositories import accounts, checkpoints
from journal_api.structs.checkpoints import CheckpointCreate, CheckpointPatch
from journal_api.web.responses import Response, created, no_content, ok


async def list_checkpoints(request: Request, db: Connection, account_id: int) -> Response:
    """List the checkpoints of an account, by day, each with its difference to the journal's balance."""
    return ok(checkpoints=await checkpoints.list_of_account(db, request.user.id, account_id))


async def get_checkpoint(request: Request, db: Connection, account_id: int, checkpoint_id: int) -> Response:
    """Get a checkpoint with the days since the balances last agreed."""
    return ok(checkpoint=await checkpoints.get(db, request.user.id, account_id, checkpoint_id))


async def create_checkpoint(request: Request, db: Connection, account_id: int, body: CheckpointCreate) -> Response:
    """Say what the broker's balance was at the end of a trading day."""
    await accounts.get(db, request.user.id, account_id)
    checkpoint_id = await checkpoints.insert(db, account_id, body)
    checkpoint = await checkpoints.get(db, request.user.id, account_id, checkpoint_id)
    return created(f"/v1/accounts/{account_id}/checkpoints/{checkpoint_id}", checkpoint=checkpoint)


async def update_checkpoint(
    request: Request, db: Connection, account_id: int, checkpoint_id: int, patch: CheckpointPatch
) -> Response:
    """Accept a difference, or change the note."""
    await checkpoints.update(db, await checkpoints.find(db, request.user.id, account_id, checkpoint_id), patch)
    return ok(checkpoint=await checkpoints.get(db, request.user.id, account_id, checkpoint_id))


async def delete_checkpoint(request: Request, db: Connection, account_id: int, checkpoint_id: int) -> Response:
    """Delete a checkpoint."""
    await accounts.get(db, request.user.id, account_id)
    await checkpoints.delete(db, account_id, checkpoint_id)
    return no_content()
