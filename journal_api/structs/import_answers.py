"""What whoever imports a file says of it, as texts: in a query with a colon, in an option of the command with `=`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, Self

from journal_api.structs.import_profiles import OF_FILLS, OF_TRADES
from journal_api.values.types import Name100

RESULTS = ("gross_pnl", "net_pnl")
# What only the other kind has.
OF_OTHER_KIND: Mapping[str, tuple[str, ...]] = {"trades": OF_FILLS, "fills": (*OF_TRADES, *RESULTS)}


class AccountMapping(str):
    """`NAME:ACCOUNT`: the name of an account in a file, and the name or the id of an account of the journal.

    The last colon separates them, so an account with a colon in its name is stated by its id.
    """

    separator: ClassVar[str] = ":"
    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "examples": ["Sim101:Evaluation 50K"]}

    @classmethod
    def decode(cls, value: object) -> Self:
        file_name, _, account = value.rpartition(cls.separator) if isinstance(value, str) else ("", "", "")
        if not (isinstance(value, str) and file_name.strip() and account.strip()):
            example = f"Sim101{cls.separator}Evaluation 50K"
            raise ValueError(f"must be the name in the file and an account, such as {example}")
        Name100.decode(file_name)
        return cls(value)

    @property
    def file_name(self) -> str:
        """The name in the file, as a cell with it is read."""
        return Name100.decode(self.rpartition(self.separator)[0])

    @property
    def account(self) -> str:
        return self.rpartition(self.separator)[2].strip()


class AccountOption(AccountMapping):
    """An AccountMapping of the command: `NAME=ACCOUNT`."""

    separator = "="


class LineAnswer(str):
    """`LINE:ANSWER` about a suspect: the id of the trade that it is, `new`, or `leave`."""

    separator: ClassVar[str] = ":"
    pattern: ClassVar[str] = "[0-9]{1,9}:(?:[0-9]{1,18}|new|leave)"
    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "pattern": f"^{pattern}$"}

    @classmethod
    def decode(cls, value: object) -> Self:
        if not isinstance(value, str) or not re.fullmatch(cls.pattern, value):
            example = f"12{cls.separator}new"
            raise ValueError(f"must be a line and the id of a trade, new or leave, such as {example}")
        return cls(value)

    @property
    def line(self) -> int:
        return int(self.partition(self.separator)[0])

    @property
    def decision(self) -> int | Literal["new", "leave"]:
        answer = self.partition(self.separator)[2]
        return "new" if answer == "new" else "leave" if answer == "leave" else int(answer)


class AnswerOption(LineAnswer):
    """A LineAnswer of the command: `LINE=ANSWER`."""

    separator, pattern = "=", LineAnswer.pattern.replace(":", "=", 1)


class SaidColumn(str):
    """`MEMBER:COLUMN`: the column of an unknown header that holds a member of a profile, none if it is empty.

    For some members `=` and a value of all rows; for `kind` one of its words. The last answer about a member
    counts, but columns of costs are added. A kind takes back what only the other has, a result the other one.
    """

    separator: ClassVar[str] = ":"
    constants: ClassVar[tuple[str, ...]] = ("symbol", "quantity", "multiplier", "account")
    members: ClassVar[tuple[str, ...]] = (*constants, "kind", "side", *OF_FILLS, *OF_TRADES, *RESULTS, "costs")
    json_schema: ClassVar[dict[str, Any]] = {"type": "string", "examples": ["quantity:Qty"]}

    @classmethod
    def decode(cls, value: object) -> Self:
        member, _, column = value.partition(cls.separator) if isinstance(value, str) else ("", "", "")
        if not isinstance(value, str) or member not in cls.members:
            example = f"quantity{cls.separator}Qty"
            raise ValueError(f"must be one of {', '.join(cls.members)} and its column, such as {example}")
        if member == "kind" and column not in OF_OTHER_KIND:
            raise ValueError("must have the kind trades or fills")
        if column.startswith("=") and member not in cls.constants:
            raise ValueError(f"must have a column: only {', '.join(cls.constants)} may be the same in all rows")
        return cls(value)

    @classmethod
    def collect(cls, answers: Iterable[Self]) -> dict[str, list[str]]:
        """Return the columns of each member, an empty list for one that the file does not have."""
        said: dict[str, list[str]] = {}
        for member, _, column in (answer.partition(cls.separator) for answer in answers):
            before = [one for one in said.pop(member, []) if one != column] if member == "costs" else []
            said[member] = [*before, column] if column else []
            taken_back = RESULTS if member in RESULTS and column else OF_OTHER_KIND[column] if member == "kind" else ()
            for other in {*taken_back} - {member}:
                said.pop(other, None)
        return said


class SaidOption(SaidColumn):
    """A SaidColumn of the command: `MEMBER=COLUMN`."""

    separator = "="
