"""A profile in the making: what the names and the cells of a table with an unknown header say of it."""

from collections.abc import Mapping, Sequence

from journal_api.errors import ValidationFailed
from journal_api.structs.import_answers import OF_OTHER_KIND, RESULTS
from journal_api.structs.import_profiles import OF_FILLS, OF_TRADES, Costs, Effect, Option, ProposedProfile
from journal_api.trade_files.dates import CLOCK
from journal_api.trade_files.profiles.doubts import (
    tell_lots,
    tell_market,
    tell_missing,
    tell_open,
    tell_repeated,
    tell_status,
)
from journal_api.trade_files.profiles.proposed_side import SideSearch
from journal_api.trade_files.profiles.proposed_words import (
    find_condition,
    find_effect,
    find_option_beside,
    find_zones,
)
from journal_api.trade_files.profiles.unknown_amounts import (
    find_cost_columns,
    find_cost_sign,
    find_result,
)
from journal_api.trade_files.profiles.unknown_columns import find_members
from journal_api.trade_files.profiles.unknown_tables import AMOUNTS, Table, find_unit
from journal_api.trade_files.vocabulary import NAMES, find_column, find_costs, has_part, translate
from journal_api.values.time_zones import time_zones

# Whether a file has one trade per row: both of one of these pairs, and a price or a result of a whole trade.
PAIRS = (("entry_price", "exit_price"), ("opened_at", "closed_at"))
OF_OPTIONS = ("expires", "strike", "right")
OPTIONS = "{} names options, which are read as {}"
OF_ORDERS = "{} may be the price of orders, not of their fills: if so, export fills"
ONE_TIME = "the file has one time per trade, which is taken for both its opening and its close"
SETTLED = "{} may be a day of settlement, which is after the trade"
DAYS_ONLY = "the file has days without times: fills of a day are in the order of the file"
# Of the names of values to which the costs of a fill are added.
WITHOUT_COSTS = ("gross", "brutto", "netto", "proceeds", "subtotal", "principal", "consideration", "notional")


class Draft:
    """A profile in the making: the table, the columns of members, and doubts about them."""

    def __init__(self, table: Table, said: Mapping[str, Sequence[str]]) -> None:
        self.table, self.costs = table, said.get("costs")
        self.said = {member: "".join(columns) for member, columns in said.items() if member not in ("costs", "kind")}
        self.members = find_members(table, self.said)
        self.warnings: list[str] = []
        of_value = {self.said.get("price"), self.said.get("side")}  # the value may be said to be these
        taken = {self.members.get("quantity"), *self.said.values()} - of_value
        others = [name for name in table.columns if name not in taken]
        self.value = find_column(others, NAMES["value"])
        self.divided = self._find_values()
        is_closed = bool(self.members.get("closed_at")) and any(map(self.members.get, RESULTS))
        known = (*PAIRS, ("price", "exit_price")) if is_closed else PAIRS
        pairs = [pair for pair in known if len({self.members.get(name) for name in pair} - {None}) == 2]
        is_of_trades = any(self.members.get(name) for pair in pairs for name in (*PAIRS[0], *RESULTS))
        (kind,) = said.get("kind", ["trades" if is_of_trades else "fills"])
        if wrong := [name for name in OF_OTHER_KIND[kind] if self.said.get(name)]:
            raise ValidationFailed(fields={"columns": f"the kind {kind} has no {', '.join(wrong)}"})
        self.is_of_trades = kind == "trades"
        is_amount = "quantity" not in self.said and translate(self.members.get("quantity", "")) in NAMES["value"]
        if self.is_of_trades and is_amount and not self.divided:
            del self.members["quantity"]  # of a whole trade an amount is a sum of money
        self.ends = OF_TRADES if self.is_of_trades else OF_FILLS
        self.gross, self.net = (self.members.get(name) if self.is_of_trades else None for name in RESULTS)

    def build(self) -> ProposedProfile:
        """Return the profile with the words and signs that the rows have."""
        table, members = self.table, self.members
        complete = self._complete_trade if self.is_of_trades else self._complete_fill
        complete()
        clock = None if self.is_of_trades else self._find_clock()
        search = SideSearch(table, members, self.value, self.is_of_trades, "side" in self.said)
        side, doubt = search.find()
        self.warnings += [doubt] if doubt else []
        members |= {"side": str(side.column)} if side else {}
        names = ("symbol", "quantity", "multiplier", "account", *self.ends)
        size, external_id = (members.get(name) for name in ("quantity", "external_id"))
        divided = [self.value] if self.value and members.get("price") == self.value else self.divided
        costs, unread = find_cost_columns(table, members) if self.costs is None else ([*self.costs], [])
        if unread:
            self.warnings.append(f"{', '.join(unread)} may be costs: if they are, add them")
        if costs and self.costs is None and not find_costs(costs) + find_costs(costs, are_likely=True):
            self.warnings.append(f"{', '.join(costs)} is taken for the costs by its cells")
        if (
            divided
            and costs
            and self.costs is None
            and not any(word in divided[0].casefold() for word in WITHOUT_COSTS)
        ):
            self.warnings.append(f"{divided[0]} is taken to include the costs: if it does not, add {', '.join(costs)}")
            costs = []
        sign = find_cost_sign(table.numbers, costs, self.gross, self.net, size or "")
        result = find_result(table, members, costs, sign or 1, self.said.keys()) if self.is_of_trades else {}
        ids = table.read_cells(external_id)
        at = members.get("at", "")
        self.warnings += [*tell_repeated(table, external_id, members, self.ends), *tell_market(table, members)]
        if not self.is_of_trades and has_part(at, "settlements"):
            self.warnings.append(SETTLED.format(at))
        timed = [clock] if clock else [members[name] for name in ("at", *PAIRS[1]) if members.get(name)]
        stated = table.read_cells(find_column(table.names, ["Timezone", "Time zone"]))
        zones = {*stated} or find_zones(table, timed)
        price = members.get("price", "")
        if translate(price) == "price" and not table.names.simple.keys().isdisjoint(("tif", "timeinforce")):
            self.warnings.append(OF_ORDERS.format(price))
        self.warnings += tell_missing(table, members, self.said, self.ends)
        option = None if self.is_of_trades else self._propose_option()
        contract, not_read = (None, "") if option else find_option_beside(table, members.get("symbol", ""))
        if contract:
            self.warnings.append(OPTIONS.format(contract, f"shares: {not_read}" if not_read else "such"))
        contract = None if not_read else contract
        where = find_condition(table, members.get("side"), size or "")
        closed_at = members.get("closed_at") if self.is_of_trades else None
        self.warnings += tell_open(table, closed_at) if closed_at else ()
        self.warnings += () if self.is_of_trades else tell_lots(table, size or "", price)
        self.warnings += () if where or self.is_of_trades else tell_status(table, size or "")
        return ProposedProfile(
            name="New profile",
            kind="trades" if self.is_of_trades else "fills",
            header=[column for column in table.columns if column][:50],
            where=where,
            side=side,
            clock=clock,
            option=option,
            contract=contract,
            effect=self._propose_effect(members.get("side"), contract),
            costs=Costs(columns=[*costs], paid="negative" if sign < 0 else "positive") if costs else None,
            abs=[*(() if sign else costs), *divided] or None,
            divide_by=dict.fromkeys(divided, size) if divided and size else None,
            zone=next(iter(zones)) if len(zones) == 1 and zones <= time_zones() else None,
            external_id=[external_id] if external_id and len(set(ids)) == len(ids) else None,
            **{name: members[name] for name in names if members.get(name)},  # type: ignore[arg-type]  # all texts
            **result,  # type: ignore[arg-type]
        )

    def _find_values(self) -> list[str]:
        """Return the columns of what was paid and received for whole trades, which stand for missing prices.

        They are values of contracts, of which a point is worth 1.
        """
        members, columns = self.members, [self.members.get(name, "") for name in ("entry_value", "exit_value")]
        is_whole = all(columns) and members.keys() >= {"quantity", *PAIRS[1]}
        if not is_whole or not {members.get(name) for name in AMOUNTS} <= {None, *columns}:
            return []
        if [members.setdefault(name, column) for name, column in zip(PAIRS[0], columns, strict=True)] != columns:
            return []
        members.setdefault("multiplier", "=1")
        if "side" not in self.said:
            members.pop("side", None)  # Short is how long they were held
        unit = find_unit(columns[0])
        for name in (name for name in RESULTS if name not in self.said and find_unit(members.get(name, "")) != unit):
            members.pop(name, None)  # it is in another currency
        self.warnings.append(f"the file has no prices: they are {' and '.join(columns)} divided by the quantity")
        return columns

    def _complete_trade(self) -> None:
        """Take a price beside that of one end for the other, and the only time of a trade for both of its ends."""
        members = self.members
        ends = [name for name in ("entry_price", "exit_price") if name not in members]
        if len(ends) == 1 and "price" in members and ends[0] not in self.said:
            members[ends[0]] = members["price"]
        times, at = {members.get(name) for name in ("opened_at", "closed_at")} - {None}, members.get("at")
        is_said = not self.said.keys().isdisjoint(("opened_at", "closed_at"))
        if times == {members.get("closed_at")} and not is_said and self.table.is_before(at, members.get("closed_at")):
            times.add(members.setdefault("opened_at", str(at)))
        if len(times) < 2 and not is_said and (time := next(iter(times), at)):
            members["opened_at"] = members["closed_at"] = time
            self.warnings.append(ONE_TIME)

    def _complete_fill(self) -> None:
        """Find price and time of a fill; without a price it is the value divided by the quantity."""
        members, size = self.members, self.members.get("quantity")
        for name, others in (("price", ("entry_price", "exit_price")), ("at", ("closed_at", "opened_at"))):
            found = [members[other] for other in others if other in members and name not in self.said]
            members.setdefault(name, next(iter(found), ""))
        is_value = self.value == members["price"] if "price" in self.said else not members["price"]
        if is_value and self.value and size:
            members["price"] = self.value
            self.warnings.append(f"the file has no price: it is {self.value} divided by {size}")

    def _find_clock(self) -> str | None:
        """Return the column with the time of day if the day stands in another, which becomes `at`."""
        table, at = self.table, self.members["at"]
        if not table.read_cells(at) or table.has_clock(at):
            return None
        named = [name for name in table.columns if table.read_cells(name) and table.holds("at", name)]
        whole = [name for name in named if table.has_clock(name) and translate(name) in NAMES["at"]]
        if whole and "at" not in self.said:
            self.members["at"] = whole[0]
            return None
        clocks = [name for name in named if table.count(name, CLOCK.fullmatch)]
        days = [name for name in (at, *named) if name not in clocks]
        if days and clocks:
            known = [name for name in days if translate(name) in NAMES["at"]]
            self.members["at"] = at if at in days else table.find_day(known or days) or days[0]
            return at if at in clocks else clocks[0]
        self.warnings += [DAYS_ONLY] if days else []
        return None

    def _propose_option(self) -> Option | None:
        """Return the columns of the contract of an option, None without one of them."""
        columns = {name: self.members[name] for name in OF_OPTIONS if name in self.members}
        return Option(**columns) if len(columns) == 3 and self.table.read_cells(columns["strike"]) else None

    def _propose_effect(self, side: str | None, contract: str | None) -> Effect | None:
        symbol, price = contract or self.members.get("symbol"), self.members.get("price")
        if self.is_of_trades or not (side and symbol and price):
            return None
        return find_effect(self.table, side, symbol, {price, self.value or price})
