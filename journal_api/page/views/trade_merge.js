// Trades that are one position: merging those that the owner chooses, and splitting them again.

import { get, send } from "../client.js";
import { confirm, form, h, open, trying } from "../dom.js";
import { count, dayIn, instant, number, plusDays, signed } from "../format.js";

const isOfPosition = (trade, other) =>
  other.account_id === trade.account_id &&
  other.root === trade.root &&
  other.direction === trade.direction &&
  other.multiplier === trade.multiplier;
const end = ({ closed_at: at }) => at ?? "9999";

// The trades of the list whose times touch those of the trade, directly or through others.
/** @param {TradeListItem} trade @param {TradeListItem[]} others */
export function chainOf(trade, others) {
  const chain = [trade];
  const left = others.filter((one) => one.id !== trade.id && isOfPosition(trade, one));
  for (const one of chain) {
    for (const other of left.filter((two) => two.opened_at <= end(one) && end(two) >= one.opened_at)) {
      left.splice(left.indexOf(other), 1);
      chain.push(other);
    }
  }
  return chain.slice(1);
}

// The offer to merge; trades of the list that touch this one are named.
/** @param {Context} context @param {Trade} trade @param {TradeListItem[]} listed */
export function mergeOf(context, trade, listed) {
  const chain = chainOf(trade, listed);
  if (!chain.length) return null;
  return h(
    "p.row",
    h("span.muted", `${count(chain.length, "other trade")} of this position touch it in time.`),
    mergeButton(context, trade, "Merge them"),
  );
}

export const mergeButton = (context, trade, label) =>
  h("button.merge", { onclick: trying(() => choose(context, trade)) }, label);

async function choose(context, trade) {
  const day = trade.trading_day ?? dayIn(context.me.timezone, new Date(trade.opened_at));
  const { account_id, root, direction } = trade;
  const days = { from: plusDays(day, -1), to: plusDays(day, 1) };
  const near = (await get("/trades", { account_id, root, direction, ...days, limit: 200 })).data.trades;
  const others = near.filter((one) => one.id !== trade.id && isOfPosition(trade, one));
  const chain = new Set(chainOf(trade, others).map(({ id }) => id));
  const dialog = open(
    "Which trades are one position?",
    form(
      { id: "merge" },
      async (_, element) => {
        const ids = [...element.querySelectorAll("input:checked")].map(({ value }) => Number(value));
        const { data } = await send("POST", "/trades/merge", { body: { ids: [trade.id, ...ids] } });
        dialog.close();
        await arrive(context, data.trade.id);
      },
      h(
        "p",
        others.length
          ? "The first of them keeps its grade, and all tags, notes and answers. They can be split again."
          : "No other trade of these days has this account, contract and side.",
      ),
      others.map((one) => line(one, context, chain.has(one.id))),
      others.length > 0 && h("button.primary", "Merge into one trade"),
    ),
  );
}

const line = (trade, { me }, checked) =>
  h(
    "label.check",
    h("input", { type: "checkbox", value: String(trade.id), checked }),
    h(
      "span",
      `${trade.symbol}, ${number(trade.quantity)}, ${instant(trade.opened_at, me.timezone)} to `,
      `${trade.closed_at ? instant(trade.closed_at, me.timezone) : "now"}, ${signed(trade.net_pnl)}`,
    ),
  );

// The trade that is left is shown, at the address that it has perhaps already.
const arrive = ({ query, go, redraw }, id) =>
  query.get("id") === String(id) ? redraw() : go("trades", { ...Object.fromEntries(query), id });

/** @param {Context} context @param {Trade} trade */
export function splitOf({ redraw }, trade) {
  if (!trade.merged_ids.length) return null;
  const split = () =>
    confirm(
      "Split this trade again?",
      "Every part becomes what it was. What you wrote since the merge stays on the first.",
      "Split it",
      async () => {
        await send("POST", `/trades/${trade.id}/split`);
        await redraw();
      },
      "primary",
    );
  return h(
    "p.row",
    h("span.muted", `Merged from ${count(trade.merged_ids.length + 1, "trade")}.`),
    h("button#split", { onclick: split }, "Split again"),
  );
}
