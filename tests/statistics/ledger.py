"""A trader's fills by hand and files of fills, and the trades that books apart from the service make of them.

No other step of the walk touches the accounts of a ledger, so that every trade of them is known.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from file_account import FileAccount, spread_over_days
from hand_book import HandBook
from positions import FileFill, random_fills
from walks import Row, Walk

BROKER = "Ledger"
OF_LEDGER = f"account_id IN (SELECT id FROM accounts WHERE broker = '{BROKER}')"
COPY_SECONDS, SHARE = timedelta(seconds=5), 2


def copy_fills(fills: Sequence[FileFill]) -> list[FileFill]:
    """What a follower does a second later."""
    late = timedelta(seconds=1)
    return [fill._replace(id=fill.id + 5000, time=fill.time + late, quantity=fill.quantity * SHARE) for fill in fills]


class Ledger:
    """An account by hand, and accounts of files: fills, those of a follower, pairs, and pairs as rows."""

    def __init__(self, walk: Walk) -> None:
        self.walk, self.group = walk, 0
        self.unlinked = set[int]()  # copies that the trader has unlinked
        self.books: list[HandBook | FileAccount] = []

    async def begin(self) -> None:
        bodies = [{"name": f"{BROKER} {number}", "broker": BROKER} for number in range(5)]
        accounts = [(await self.walk.write("POST", "/accounts", body))["id"] for body in bodies]
        hand, master, follower, *others = accounts
        fills = spread_over_days(random_fills(self.walk.random.randrange(10**6), 60))
        copied = copy_fills(fills)
        self.books = [
            HandBook(self.walk, hand),
            FileAccount(self.walk, master, fills, "fills"),
            FileAccount(self.walk, follower, copied, "fills"),
            FileAccount(self.walk, others[0], fills, "pairs"),
            FileAccount(self.walk, others[1], fills, "pairs", unit="row"),
        ]
        self.group = (await self.walk.write("POST", "/copy-groups", {"name": BROKER}))["id"]
        members = [{"account_id": master}, {"account_id": follower, "quantity_multiplier": SHARE}]
        await self.walk.write("PUT", f"/copy-groups/{self.group}/members", {"members": members})
        await self.walk.write("PATCH", f"/copy-groups/{self.group}", {"master_account_id": master})

    async def step(self) -> None:
        """A step of one account, or a copy that is linked, or not any more."""
        await self.walk.random.choice([*(book.step for book in self.books), self.link, self.unlink])()
        self.compare()

    async def link(self) -> None:
        """Every position that no other one is near to is linked to the one that it copies."""
        path = f"/copy-groups/{self.group}/link"
        tried = await self.walk.write("POST", f"{path}?dry_run=true", {})
        linked = await self.walk.write("POST", path, {})
        self.forget_imports()
        assert linked["linked"] == tried["linked"]
        master, follower = (book for book in self.books[1:3] if isinstance(book, FileAccount))
        if master.known == follower.known and not self.unlinked:
            originals = {(original[0], original[2][:19]) for _, original in self.list_links()}
            assert {(one[0], one[3].isoformat()) for one in master.list_lonely()} <= originals

    def forget_imports(self) -> None:
        """What the trader has linked or unlinked is edited, and undoing its import would keep it."""
        for book in self.books[1:3]:
            if isinstance(book, FileAccount):
                book.imports.clear()

    def list_links(self) -> list[tuple[Row, Row]]:
        """Each copy and its original: symbol, direction, opening, account, id."""
        names = ("symbol", "direction", "opened_at", "account_id", "id")
        rows = self.walk.rows(
            f"SELECT {', '.join(f'{table}.{name}' for table in ('copy', 'original') for name in names)}"
            " FROM trades AS copy JOIN trades AS original ON original.id = copy.source_trade_id"
            f" WHERE copy.{OF_LEDGER}"
        )
        return [(row[: len(names)], row[len(names) :]) for row in rows]

    def compare_links(self) -> None:
        """The copies are the follower's, open near their originals, and are no more than one each."""
        links = self.list_links()
        for copy, original in links:
            late = datetime.fromisoformat(copy[2]) - datetime.fromisoformat(original[2])
            assert (copy[:2], abs(late) <= COPY_SECONDS) == (original[:2], True)
            assert (copy[3], original[3]) == (self.books[2].account, self.books[1].account)
        assert len({original[4] for _, original in links}) == len(links)
        assert self.unlinked.isdisjoint(copy[4] for copy, _ in links)

    async def unlink(self) -> None:
        copies = [copy[4] for copy, _ in self.list_links()]
        if copies:
            self.forget_imports()
            self.unlinked.add(copy := self.walk.random.choice(copies))
            assert await self.walk.write("PATCH", f"/trades/{copy}", {"source_trade_id": None})

    def compare(self) -> None:
        for book in self.books:
            book.compare()
        self.compare_links()
