"""A profile in the making: what the names and the cells of a table with an unknown header say of it."""

from collections.abc import Mapping, Sequence

from journal_api.errors import ValidationFailed
from journal_api.structs.import_answers import OF_OTHER_KIND, RESULTS
from journal_api.structs.import_profiles import OF_FILLS, OF_TRADES, Costs, Effect, Option, ProposedProfile, Side
from journal_api.trade_files.dates import CLOCK
from journal_api.trade_files.profiles.proposed_words import (
    find_condition,
    find_effect,
    find_option_beside,
    find_side_words,
    find_sign,
    find_zones,
)
from journal_api.trade_files.profiles.unknown_amounts import (
    find_cost_columns,
    find_cost_sign,
    find_result,
    find_signed_value,
)
from journal_api.trade_files.profiles.unknown_columns import find_members
from journal_api.trade_files.profiles.unknown_sides import find_side_of_fills, find_side_of_trades
from journal_api.trade_files.profiles.unknown_tables import AMOUNTS, Table
from journal_api.trade_files.vocabulary import (
    KNOWN,
    NAMES,
    SIGNS,
    find_column,
    find_costs,
    find_direction,
    spell,
    translate,
)
from journal_api.values.time_zones import time_zones

# Whether a file has one trade per row: both of one of these pairs, and a price or a result of a whole trade.
PAIRS = (("entry_price", "exit_price"), ("opened_at", "closed_at"), ("price", "exit_price"))
OF_OPTIONS = ("expires", "strike", "right")
NO_SIDE = "the file has no side, and no negative quantity: every row is a purchase or a long trade"
FACTORS = "{} is taken for the quantity, and {} for the price, as their product is the value: is that so?"
OPTIONS = "{} names options, which are read as shares if it is not named as contract or no multiplier is: {}"
VALUE_SIDE = "the sign of {} is taken for the side, negative for a purchase: is that so?"
OF_ORDERS = "{} may be the price of orders, not of their fills: if so, export fills"
ONE_TIME = "the file has one time per trade, which is taken for both its opening and its close"
MAY_HAVE_NONE = "the file may have no trades: if so, export executions or closed trades, with their prices"
SIDE = "{1} of {0} is taken for {3}, and {2} for the other side, as positions or results show: is that so?"
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
        pairs = [pair for pair in PAIRS if len({self.members.get(name) for name in pair} - {None}) == 2]
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
        words = self._find_words(clock)
        names = ("symbol", "quantity", "multiplier", "account", *self.ends)
        size, side, external_id = (members.get(name) for name in ("quantity", "side", "external_id"))
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
        sign = find_cost_sign(table.numbers, costs, self.gross, self.net)
        result = find_result(table, members, costs, sign or 1, self.said.keys()) if self.is_of_trades else {}
        ids = table.read_cells(external_id)
        timed = [clock] if clock else [members[name] for name in ("at", *PAIRS[1]) if members.get(name)]
        stated = table.read_cells(find_column(table.names, ["Timezone", "Time zone"]))
        zones = {*stated} or find_zones(table, timed)
        price = members.get("price", "")
        if translate(price) == "price" and not table.names.simple.keys().isdisjoint(("tif", "timeinforce")):
            self.warnings.append(OF_ORDERS.format(price))
        self._warn_of_missing()
        option = None if self.is_of_trades else self._propose_option()
        if not option and (beside := find_option_beside(table, members.get("symbol", ""))):
            self.warnings.append(OPTIONS.format(*beside))
        return ProposedProfile(
            name="New profile",
            kind="trades" if self.is_of_trades else "fills",
            header=[column for column in table.columns if column][:50],
            where=find_condition(table, side, size or ""),
            side=words or self._propose_side(side, size),
            clock=clock,
            option=option,
            effect=self._propose_effect(side),
            costs=Costs(columns=[*costs], paid="negative" if sign < 0 else "positive") if costs else None,
            abs=[*(() if sign else costs), *divided] or None,
            divide_by=dict.fromkeys(divided, size) if divided and size else None,
            zone=next(iter(zones)) if len(zones) == 1 and zones <= time_zones() else None,
            external_id=[external_id] if external_id and len(set(ids)) == len(ids) else None,
            **{name: members[name] for name in names if members.get(name)},  # type: ignore[arg-type]  # all texts
            **result,  # type: ignore[arg-type]
        )

    def _warn_of_missing(self) -> None:
        """Say which columns a profile needs beside those that are known."""
        members, known = self.members, {"price": KNOWN | {"rate"}}
        guessed = {
            member: column
            for member in ("symbol", "quantity", "price")
            if (column := members.get(member))
            and member not in self.said
            and {translate(column), spell(column)}.isdisjoint(known.get(member, NAMES[member]))
            and (member == "symbol" or members.get("price") != members.get("quantity"))
        }
        if guessed.keys() >= {"quantity", "price"}:
            self.warnings.append(FACTORS.format(guessed.pop("quantity"), guessed.pop("price")))
        self.warnings += [f"{column} is taken for the {member} by its cells" for member, column in guessed.items()]
        if missing := [name for name in ("symbol", "quantity", *self.ends) if not self.members.get(name)]:
            names = ", ".join(missing)
            self.warnings.append(f"no column is known as {names}: name it here, or state it for all rows as =1")
        if len(missing) > 1 or not {*self.ends}.isdisjoint(missing):
            self.warnings.append(MAY_HAVE_NONE)

    def _find_values(self) -> list[str]:
        """Return the columns of what was paid and received for whole trades, which stand for missing prices."""
        members, columns = self.members, [self.members.get(name, "") for name in ("entry_value", "exit_value")]
        is_whole = all(columns) and members.keys() >= {"quantity", *PAIRS[1]}
        if not is_whole or any(map(members.get, AMOUNTS)) or not self.said.keys().isdisjoint(AMOUNTS):
            return []
        members["entry_price"], members["exit_price"] = columns
        self.warnings.append(f"the file has no prices: they are {' and '.join(columns)} divided by the quantity")
        return columns

    def _complete_trade(self) -> None:
        """Take a price beside that of one end for the other, and the only time of a trade for both of its ends."""
        members = self.members
        ends = [name for name in ("entry_price", "exit_price") if name not in members]
        if len(ends) == 1 and "price" in members and ends[0] not in self.said:
            members[ends[0]] = members["price"]
        times = {members.get(name) for name in ("opened_at", "closed_at")} - {None}
        is_said = not self.said.keys().isdisjoint(("opened_at", "closed_at"))
        if len(times) == 1 and "at" in members and not is_said:
            times.add(members.setdefault("opened_at", members["at"]))
        if len(times) < 2 and not is_said and (time := next(iter(times), members.get("at"))):
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

    def _find_words(self, clock: str | None) -> Side | None:
        """Return the side whose words the positions or the results tell, if neither words nor a sign are known.

        Results also tell that a file states the side of the order that closed each trade.
        """
        table, members = self.table, self.members
        column, size = members.get("side"), members.get("quantity", "")
        cells = {*table.read_cells(column)}
        is_known = any(map(find_direction, cells)) or (cells and cells <= SIGNS.keys())
        sign = self._find_sign(size)
        if (is_known and not self.is_of_trades) or min(table.read_amounts(size), default=-1) < 0:
            return None
        if not column and (sign or "side" in self.said):
            return None
        taken = {"", *members.values()}
        others = [
            name
            for name in table.columns
            if name not in taken
            and translate(name) not in KNOWN
            and not table.holds("at", name)
            and (not table.read_amounts(name) or all(len(cell) == 1 for cell in table.read_cells(name)))
        ]
        columns = [column] if column else others
        if self.is_of_trades:
            side = find_side_of_trades(table, columns, members)
        else:
            side = find_side_of_fills(table, columns, members, clock)
        if side and is_known and find_direction(side.long[0]) != "short":
            return None
        if side:
            members["side"] = str(side.column)
            self.warnings.append(
                SIDE.format(side.column, *side.long, *side.short, "long" if self.is_of_trades else "a purchase")
            )
        return side

    def _propose_option(self) -> Option | None:
        """Return the columns of the contract of an option, None without one of them."""
        columns = {name: self.members[name] for name in OF_OPTIONS if name in self.members}
        return Option(**columns) if len(columns) == 3 and self.table.read_cells(columns["strike"]) else None

    def _propose_effect(self, side: str | None) -> Effect | None:
        symbol, price = self.members.get("symbol"), self.members.get("price")
        if self.is_of_trades or not (side and symbol and price):
            return None
        return find_effect(self.table, side, symbol, {price, self.value or price})

    def _propose_side(self, column: str | None, size: str | None) -> Side | None:
        """Return the side: without a column of it and a sign of the quantity it is the sign of the value."""
        members, sizes = self.members, self.table.read_amounts(size)
        if column is not None:
            if column == self.value and (sign := find_sign(self.table, column)):
                return sign
            is_first = column in (members.get("price"), members.get("symbol"))
            return find_side_words(self.table, column, of_trades=self.is_of_trades, is_first=is_first)
        if not sizes or min(sizes) < 0:
            return None
        side = None if "side" in self.said else self._find_sign(size)
        if side is None or side.column != self.value:
            self.warnings.append(VALUE_SIDE.format(side.column) if side else NO_SIDE)
        return side

    def _find_sign(self, size: str | None) -> Side | None:
        """Return the sign of the value of fills as their side."""
        if self.is_of_trades or not size:
            return None
        values = (self.value, find_signed_value(self.table, size, self.members.get("price", "")))
        return next((sign for value in values if value and (sign := find_sign(self.table, value))), None)
