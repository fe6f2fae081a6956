"""What a report reads after a write. That it shows the truth all the same is what the walks of test_model.py see."""

from factories import Client, create_tag, insert_trade, run_sql, unwrap
from saved_journals import saved_journal
from sql_calls import noted_statements
from starlette.applications import Starlette

from journal_api.statistics.kept_readings import OUTSIDE, WITHIN


async def test_a_report_reads_again_the_months_that_changed_and_those_near(
    app: Starlette, client: Client, account_id: int
) -> None:
    for month in range(1, 13):
        await insert_trade(app, account_id, closed_at=f"2025-{month:02}-10T12:00:00Z")
    for write, read in [
        ("SELECT 1", ["not 12 to 12", "12 to 12"]),
        ("UPDATE trades SET grade = 'A' WHERE id = 12", ["12 to 12"]),
        ("UPDATE trades SET grade = 'A' WHERE id = 10", ["not 10 to 12", "10 to 12"]),
        ("UPDATE trades SET grade = 'B' WHERE id = 11", ["10 to 12"]),
        ("UPDATE trades SET grade = 'A' WHERE id = 1", ["not 01 to 01", "01 to 01"]),
        ("UPDATE accounts SET currency = 'EUR'", ["not 01 to 01", "01 to 01"]),
        ("UPDATE trades SET grade = 'B' WHERE id = 1", ["01 to 01"]),
        ("UPDATE trades SET source_trade_id = 1 WHERE id = 2", ["not 01 to 02", "01 to 02"]),
        ("UPDATE trades SET source_trade_id = 1 WHERE id = 8", ["all"]),
        ("UPDATE trades SET source_trade_id = NULL WHERE id = 8", ["not 08 to 08", "08 to 08"]),
    ]:
        await run_sql(app, write)
        with noted_statements() as noted:
            await client.get("/reports?group_by=symbol")
        reads = [(sql, values) for sql, values in noted if "FROM single\nGROUP BY" in sql]
        assert [name_days(*one) for one in reads] == read, write


def name_days(sql: str, values: dict[str, str]) -> str:
    if WITHIN not in sql and OUTSIDE not in sql:
        return "all"
    return f"{'not ' if OUTSIDE in sql else ''}{values['first'][5:7]} to {values['last'][5:7]}"


async def test_a_report_shows_what_one_of_everything_shows(app: Starlette, client: Client, account_id: int) -> None:
    await create_tag(client)
    for month in range(1, 13):
        await insert_trade(app, account_id, closed_at=f"2025-{month:02}-10T12:00:00Z")
    for write in (
        "SELECT 1",
        "UPDATE trades SET closed_at = '2025-12-11T12:00:00.000000Z', trading_day = '2025-12-11' WHERE id = 3",
        "DELETE FROM trades WHERE id = 4",
        "INSERT INTO trade_tags VALUES (5, 1)",
        "INSERT INTO days (user_id, date, rating, created_at, updated_at) VALUES (1, '2025-09-10', 5, '', '')",
        "DELETE FROM trade_tags",
    ):
        await run_sql(app, write)
        for key in ("symbol", "tag", "day_rating"):
            report = unwrap(await client.get(f"/reports?group_by={key}"))
            kept, app.state.database.kept_readings = app.state.database.kept_readings, {}
            assert unwrap(await client.get(f"/reports?offset=0&group_by={key}")) == report, (write, key)
            app.state.database.kept_readings = kept


async def test_what_was_read_of_another_journal_in_this_place_is_forgotten(
    app: Starlette, client: Client, account_id: int
) -> None:
    with saved_journal(app.state.settings.db) as saved:
        for symbol in ("ES", "NQ"):
            for day in ("2025-01-10", "2025-12-10"):
                await insert_trade(app, account_id, symbol=symbol, closed_at=f"{day}T12:00:00Z")
            report = unwrap(await client.get("/reports?group_by=symbol"))
            assert [(group["key"], group["values"]["trade_count"]) for group in report["groups"]] == [(symbol, 2)]
            saved.put_back(app.state.settings.db)
