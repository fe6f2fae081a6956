"""The first file of a trader on an empty journal: everything is asked where it was dropped, in few clicks."""

import pytest
from chromium import PageJournal, Tab, in_a_browser

pytestmark = in_a_browser

COUNT_CLICKS = """() => {
    window.clicks = 0;
    addEventListener("click", ({ isTrusted, target }) => {
        window.clicks += isTrusted && !target.closest("label.drop");
    }, true);
}"""
ONE_ACCOUNT = """\
symbol,buyFillId,sellFillId,qty,buyPrice,sellPrice,pnl,boughtTimestamp,soldTimestamp
MNQH6,1,2,1,100,110,$20.00,02/12/2026 09:00:01,02/12/2026 09:01:02
MNQH6,4,3,1,100,90,$(20.00),02/12/2026 10:01:02,02/12/2026 10:00:01
"""
FOUR_ACCOUNTS = "Instrument,Action,Quantity,Price,Time,ID,E/X,Account display name\n" + "".join(
    f"MNQ 03-26,{action},1,{price},2/12/2026 9:0{minute}:0{number},{number}{minute},{effect},Apex {number}\n"
    for number in range(1, 5)
    for minute, (action, price, effect) in enumerate([("Buy", 100, "Entry"), ("Sell", 110, "Exit")])
)


@pytest.mark.parametrize(
    ("name", "file", "accounts", "net", "most"),
    [("Apex 50K - Performance.csv", ONE_ACCOUNT, 1, "-1.48", 6), ("executions.csv", FOUR_ACCOUNTS, 4, "77.04", 12)],
    ids=["one account", "four accounts with copies"],
)
async def test_from_the_drop_to_the_first_right_number(
    page: Tab, page_journal: PageJournal, name: str, file: str, accounts: int, net: str, most: int
) -> None:
    await page.sign_in(page_journal, "import")
    await page.evaluate(COUNT_CLICKS)
    await page.press("Count days like this")
    await page.drop(name, file)
    if accounts == 1:
        await page.press("Create Apex 50K")
        await page.gone("[aria-label='Which account are these trades from?']")
    await page.press("Use America/New_York")
    if accounts > 1:
        await page.press("Create 4 accounts")
    await page.fill(".costs [name=per_side] >> nth=0", "0.37")
    await page.press("Charge this" if accounts == 1 else "Charge all")
    await page.see(net.removeprefix("-"), ".figures")
    if accounts > 1:
        await page.click("#copies")
        await page.save()
    await page.click("#import")
    await page.see(f"Imported: {2 * accounts if accounts == 1 else accounts} new trades")

    assert await page.evaluate("window.clicks") <= most
    trades = page_journal.read("/trades?limit=50")
    assert f"{sum(trade['net_pnl'] for trade in trades):.2f}" == net
    assert sum(trade["source_trade_id"] is not None for trade in trades) == accounts - 1
    await page.no_dialog()
