"""Write the pictures of the page that README.md and docs/page.md show: `make screenshots`.

They show the example journal, in a time zone in which it is late afternoon now, so that today has trades. Its
account has rules.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from chromium import PageJournal, clean_tab, open_browser
from commands import new_key, running

DOCS = Path(__file__).parent.parent / "docs"
LATE_AFTERNOON = 17
RULES = {
    "floor": {"kind": "end_of_day", "distance": 2000},
    "daily_loss": 1000,
    "profit_target": 6000,
    "best_day_share": 30,
    "qualifying_day": {"amount": 150, "days": 30},
}
# The name, the view with its query, the size, the theme.
PICTURES = [
    ("today", "today", 1280, 860, False),
    ("today-dark", "today?goal=1", 1600, 1000, True),
    ("today-phone", "today", 360, 780, False),
    ("report", "report?by=confirmation", 1280, 760, False),
    ("trades-dark", "trades", 1280, 700, True),
]


def days_of_today() -> dict[str, object]:
    """Settings with which the example has trades today: a zone where it is late, and a trading weekday."""
    hours = LATE_AFTERNOON - datetime.now(UTC).hour
    hours -= 24 if hours > 14 else 0
    weekday = (datetime.now(UTC) + timedelta(hours=hours)).isoweekday()
    # The signs of these names are the reverse of the usual: Etc/GMT-8 is eight hours ahead.
    zone = f"Etc/GMT{-hours:+d}" if hours else "Etc/GMT"
    return {"timezone": zone, "trading_weekdays": sorted({1, 2, 3, 4, 5} if weekday < 6 else {1, 2, 3, 4, weekday})}


async def main() -> None:
    """Start a journal with the example and photograph it."""
    with TemporaryDirectory(prefix="journal-") as directory:
        db = Path(directory, "journal.db")
        key = new_key(db)
        with running(db) as server, server.client(key) as client:
            client.patch("/me", json=days_of_today()).raise_for_status()
            client.post("/example-journal").raise_for_status()
            client.put("/accounts/1/rules", json=RULES).raise_for_status()
            journal = PageJournal(server, db, key, client)
            async with open_browser() as browser, clean_tab(browser) as page:
                for name, place, width, height, dark in PICTURES:
                    await page.resize(width, height, dark=dark)
                    await page.sign_in(journal, place)
                    await page.screenshot(path=DOCS / f"page-{name}.png")


if __name__ == "__main__":
    asyncio.run(main())
