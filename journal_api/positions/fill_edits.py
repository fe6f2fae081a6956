"""What adding, changing and deleting fills by hand makes of a trade."""

from collections.abc import Sequence, Set

from msgspec import UNSET
from msgspec.structs import asdict, replace

from journal_api.errors import Conflict, NotFound, ValidationFailed
from journal_api.positions.fills import Fill, FillRefused
from journal_api.positions.trade_draft import TradeDraft
from journal_api.structs.fills import FillCreate, FillPatch, FillsCreate

MAX_FILLS = 10_000  # of one trade


def add_fills(trade: TradeDraft, body: FillsCreate, timezone: str, written_at: str) -> TradeDraft:
    """Return the trade with new fills. Their ids follow the trade's last. Raises ValidationFailed."""
    bodies = body.list_fills()
    if len(trade.fills) + len(bodies) > MAX_FILLS:
        raise ValidationFailed(fields={"fills": f"of one trade must be at most {MAX_FILLS}"})
    first_id = 1 + max(fill.id for fill in trade.fills)
    added = [build_fill(body, number, timezone, written_at) for number, body in enumerate(bodies, first_id)]
    try:
        changed = with_fills(trade, [*trade.fills, *added], {fill.id for fill in added})
    except FillRefused as error:
        index = error.fill.id - first_id
        if body.fills is UNSET or index < 0:
            raise
        raise ValidationFailed(fields={f"fills[{index}].{error.name}": error.reason}) from None
    return changed if all(body.fees is UNSET for body in bodies) else replace(changed, fees_source="typed")


def build_fill(body: FillCreate, fill_id: int, timezone: str, written_at: str) -> Fill:
    """Return a new fill as it is stored."""
    return Fill(
        id=fill_id,
        side=body.side,
        quantity=body.quantity.units,
        price=body.price.units,
        at=written_at if body.at is UNSET else body.at.stored(timezone),
        fees=0 if body.fees is UNSET else body.fees.units,
        external_id=body.external_id,
    )


def change_fill(trade: TradeDraft, fill_id: int, patch: FillPatch, timezone: str) -> TradeDraft:
    """Return the trade with a changed fill. Raises NotFound or ValidationFailed."""
    stored = find_fill(trade, fill_id)
    if patch.id not in (UNSET, fill_id):
        raise ValidationFailed(fields={"id": "is read-only"})
    if patch.price is None and stored.price is not None:
        raise ValidationFailed(fields={"price": "must not be null"})
    sent = {name: value for name, value in asdict(patch).items() if value not in (UNSET, None)}
    if patch.external_id is None:
        sent["external_id"] = None
    for name in sent.keys() & {"quantity", "price", "fees"}:
        sent[name] = sent[name].units
    if patch.at is not UNSET:
        sent["at"] = patch.at.stored(timezone)
    fill = stored._replace(**sent)
    if fill == stored:
        return trade
    changed = with_fills(trade, [fill if one.id == fill_id else one for one in trade.fills], {fill_id})
    return changed if fill.fees == stored.fees else replace(changed, fees_source="typed")


def without_fill(trade: TradeDraft, fill_id: int) -> TradeDraft:
    """Return the trade without a fill. Raises NotFound, ValidationFailed, or Conflict for the last fill."""
    find_fill(trade, fill_id)
    if len(trade.fills) == 1:
        raise Conflict("This is the only fill of the trade: delete the trade instead.")
    others = [fill for fill in trade.fills if fill.id != fill_id]
    if others[0].side != trade.fills[0].side:
        raise Conflict("Without this fill the trade would begin with an exit: delete its exits first, or the trade.")
    return with_fills(trade, others, set())


def with_fills(trade: TradeDraft, fills: Sequence[Fill], written: Set[int]) -> TradeDraft:
    """Return the trade with those fills. Raises FillRefused, which names a fill that was not written."""
    try:
        return trade.with_fills(fills)
    except FillRefused as error:
        number, what = error.fill.id, error.reason.partition(":")[0]
        if number in written or error.name == "price":
            raise
        reason = f"of fill {number} {what}: change or delete fill {number} first"
        raise FillRefused(error.fill, error.name, reason) from None


def find_fill(trade: TradeDraft, fill_id: int) -> Fill:
    """Return a fill of the trade. Raises NotFound."""
    for fill in trade.fills:
        if fill.id == fill_id:
            return fill
    raise NotFound
