// The open trade. Every change is saved at once, with If-Match.

import { get, send } from "../client.js";
import { confirm } from "../dialogs.js";
import { definitions, find, h } from "../dom.js";
import { GRADES } from "../enums.js";
import {
  amount,
  gainOrLoss,
  instant,
  nameIn,
  number,
  price,
  shortDay,
  signed,
  tradingDay,
} from "../format.js";
import { pictureStrip } from "./pictures.js";
import { saver, textForm } from "./saver.js";
import { fillsOf } from "./trade_fills.js";
import { editTrade } from "./trade_form.js";
import { copiesOf, copyOf, linkButton, mergeButton, mergeOf, splitOf } from "./trade_links.js";
import { checklist, marks, setupOf, singlesOf, tagNames, tagsOf } from "./trade_parts.js";

const readOf = async (path, member) => (await get(path)).data[member];

/** @param {TradeListItem[]} trades */
async function recentSetup(trades) {
  const [last] = trades
    .filter((one) => one.setup_id)
    .sort((one, other) => (one.updated_at < other.updated_at ? 1 : -1));
  if (!last) return null;
  const strategy = await readOf(`/strategies/${last.strategy_id}`, "strategy");
  return { strategy, setup: strategy.setups.find(({ setup_id }) => setup_id === last.setup_id) };
}

const LABELS = {
  grade: "Grade",
  notes: "Notes",
  strategy_id: "Strategy",
  setup_id: "Setup",
  tag_ids: "Tags",
  confirmations: "Checklist",
};

const confirmation = (strategy, id) =>
  strategy?.setups.flatMap((one) => one.confirmations).find((one) => one.confirmation_id === id)?.name;

// What is saved of a trade.
const kindOf = ({ strategies, strategy, tags }) => ({
  member: "trade",
  labels: LABELS,
  parts: { tag_ids: "tags", confirmations: "confirmations" },
  words: {
    strategy_id: (id) => nameIn(strategies, id),
    setup_id: (id) => strategy?.setups.find(({ setup_id }) => setup_id === id)?.name,
    tag_ids: tagNames(tags),
    confirmations: (answers) =>
      answers
        .map(
          ({ confirmation_id: id, was_present }) =>
            `${was_present ? "✓" : "✗"} ${confirmation(strategy, id)}`,
        )
        .join(", "),
  },
});

// `back` is the address without the trade.
export async function tradePanel(context, lists, opened, back) {
  const close = h("a.button.close", { href: back, "aria-label": "Close the trade" }, "✕");
  if (!opened) {
    const gone = h("p", "This trade does not exist any more.");
    return h("section#trade.card", h(".title", gone, close));
  }
  const { trade } = opened.data;
  const [strategy, original, copies, recent] = await Promise.all([
    trade.strategy_id && readOf(`/strategies/${trade.strategy_id}`, "strategy"),
    trade.source_trade_id && readOf(`/trades/${trade.source_trade_id}`, "trade"),
    context.accounts.length > 1 && readOf(`/trades?source_trade_id=${trade.id}&limit=200`, "trades"),
    !trade.strategy_id && recentSetup(lists.trades),
  ]);
  const setup = strategy?.setups.find(({ setup_id }) => setup_id === trade.setup_id);
  const path = `/trades/${trade.id}`;
  const { save, latest } = saver(context, path, opened, kindOf({ ...lists, strategy }));
  const remove = () =>
    confirm(
      "Delete this trade?",
      `${trade.symbol}, opened ${instant(trade.opened_at, context.me.timezone)}, goes with its tags and answers.`,
      "Delete",
      async () => {
        await send("DELETE", path, { etag: latest().etag });
        location.hash = back;
      },
    );
  const scrolled = find("#trade")?.scrollTop ?? 0;
  const panel = h(
    "section#trade.card",
    { "data-id": trade.id, "aria-label": "Trade", tabindex: "-1" },
    h(
      ".title",
      h("h2", trade.symbol, h("small", trade.direction === "long" ? " ▲ long" : " ▼ short")),
      h(
        "span",
        { class: `big ${gainOrLoss(trade.net_pnl)}` },
        trade.net_pnl == null ? "open" : signed(trade.net_pnl),
      ),
      close,
    ),
    marks("grade", "Grade", GRADES, trade, save),
    singlesOf(trade, lists.singles, save),
    facts(context, trade),
    trade.fees_source === "none" &&
      trade.net_pnl != null &&
      h("p.warn", "Gross = net, no costs: no file stated them, and the account has no commissions."),
    trade.typed && h("p.muted", typedOf(trade, context.me)),
    fillsOf(context, trade, latest),
    mergeOf(context, trade, lists.trades),
    splitOf(context, trade),
    copyOf(context, trade, original, latest),
    copiesOf(context, copies),
    tagsOf(trade, lists.rest, save),
    setupOf(trade, lists.strategies, strategy, recent, save),
    setup && checklist(trade, setup, save),
    textForm(path, "notes", "Notes", latest().data.trade.notes, save, {
      draft: "The notes of this trade are not saved.",
    }),
    pictureStrip(path, trade.pictures),
    h("p#saved.muted", { role: "status" }),
    h(
      ".row",
      h("button", { onclick: () => editTrade(context, lists, latest()) }, "Change prices and times"),
      mergeButton(context, trade, "Merge…"),
      linkButton(context, trade, latest),
      h("button.danger", { onclick: remove }, "Delete"),
    ),
  );
  requestAnimationFrame(() => {
    panel.scrollTop = scrolled;
  });
  return panel;
}

// "You typed 2 at 25,724.75, 09:43 until 09:51 at 25,731.": the file of the broker is right about these.
function typedOf({ typed }, { timezone }) {
  const { quantity, entry_price, exit_price, opened_at, closed_at } = typed;
  const until = closed_at && ` until ${instant(closed_at, timezone)}`;
  const exit = exit_price != null && ` at ${price(exit_price)}`;
  return `You typed ${number(quantity)} at ${price(entry_price)}, ${instant(opened_at, timezone)}${until || ""}${exit || ""}; the file says more exactly.`;
}

/** @param {Context} context @param {Trade} trade */
function facts({ me, accounts }, trade) {
  const at = (text) => instant(text, me.timezone);
  const dayLink = (day) => h("a", { href: `#/day/${day}` }, shortDay(day));
  const rows = [
    ["Opened", at(trade.opened_at)],
    ["Closed", at(trade.closed_at)],
    ["Entry", price(trade.entry_price)],
    ["Exit", price(trade.exit_price)],
    [
      "Quantity",
      trade.multiplier === 1
        ? number(trade.quantity)
        : `${number(trade.quantity)} × ${number(trade.multiplier)}`,
    ],
    ["Stop", number(trade.stop_loss)],
    ["Gross", signed(trade.gross_pnl)],
    ["Fees", trade.fees_source === "none" ? "none stated" : amount(trade.fees)],
    ["Initial risk", amount(trade.initial_risk)],
    ["R", signed(trade.rr_realized)],
    ["MAE", amount(trade.mae)],
    ["MFE", amount(trade.mfe)],
    ["Account", nameIn(accounts, trade.account_id)],
    ["Trading day", dayLink(trade.trading_day ?? tradingDay(me, new Date(trade.opened_at)))],
  ];
  return definitions("dl.facts", rows);
}
