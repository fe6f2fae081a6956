// Whose copy the open trade is, and which trades are one position.

import { get, href, send } from "../client.js";
import { confirm, formDialog, trying } from "../dialogs.js";
import { checkbox, findAll, h } from "../dom.js";
import { count, dayIn, instant, nameIn, number, plusDays, price, signed } from "../format.js";

/** @param {Context} context @param {Trade} trade @param {Trade | undefined} original */
export function copyOf(context, trade, original, latest) {
  if (!trade.source_trade_id) return null;
  const unlink = trying(() => link(context, trade, null, latest));
  return h(
    ".copy",
    h(
      "p",
      "A copy of ",
      h(
        "a",
        { href: `#/trades?id=${trade.source_trade_id}` },
        original ? `${original.symbol} in ${nameIn(context.accounts, original.account_id)}` : "another trade",
      ),
      ". Reports count both as one trade and judge it by the original: ",
      "its grade, tags, strategy and answers count, not those below.",
    ),
    original && h("p.muted", judgementOf(original)),
    h("button#unlink", { onclick: unlink }, "Unlink"),
  );
}

/** @param {Context} context @param {TradeListItem[] | false} copies */
export const copiesOf = ({ query, accounts }, copies) =>
  copies &&
  copies.length > 0 &&
  h(
    "p",
    `${count(copies.length, "copy", "copies")}: `,
    copies.map((one, place) => [
      place > 0 && ", ",
      h(
        "a",
        { href: href("trades", { ...Object.fromEntries(query), id: one.id }) },
        nameIn(accounts, one.account_id),
      ),
      ` ${signed(one.net_pnl)}`,
    ]),
  );

function judgementOf({ grade, tags, confirmations }) {
  const answers = confirmations.length && count(confirmations.length, "answer");
  const words = [grade && `grade ${grade}`, ...tags.map(({ name }) => name), answers].filter(Boolean);
  return words.length ? `The original has ${words.join(", ")}.` : "The original is not judged yet.";
}

export const linkButton = (context, trade, latest) =>
  !trade.source_trade_id &&
  context.accounts.length > 1 &&
  h("button#link", { onclick: trying(() => chooseOriginal(context, trade, latest)) }, "Copy of…");

async function link({ redraw }, trade, source_trade_id, latest) {
  await send("PATCH", `/trades/${trade.id}`, { body: { source_trade_id }, etag: latest().etag });
  await redraw();
}

async function near({ me }, trade, filters) {
  const day = trade.trading_day ?? dayIn(me.timezone, new Date(trade.opened_at));
  const query = { ...filters, direction: trade.direction, limit: 200 };
  return (await get("/trades", { ...query, from: plusDays(day, -1), to: plusDays(day, 1) })).data.trades;
}

async function chooseOriginal(context, trade, latest) {
  const { me, accounts } = context;
  const distance = ({ opened_at: at }) => Math.abs(Date.parse(at) - Date.parse(trade.opened_at));
  const originals = (await near(context, trade))
    .filter((one) => one.account_id !== trade.account_id && !one.source_trade_id)
    .sort((one, other) => distance(one) - distance(other))
    .slice(0, 12);
  const option = (one, place) =>
    h(
      "label.check",
      h("input", { type: "radio", name: "original", value: String(one.id), checked: !place }),
      h(
        "span",
        `${nameIn(accounts, one.account_id)}: ${one.symbol}, ${number(one.quantity)} at `,
        `${price(one.entry_price)}, ${instant(one.opened_at, me.timezone)}, ${signed(one.net_pnl)}`,
      ),
    );
  formDialog(
    `${trade.symbol} is a copy of`,
    { id: "choose-original" },
    ({ original }) => link(context, trade, Number(original), latest),
    null,
    originals.map(option),
    originals.length
      ? h("button.primary", "Link")
      : h("p", "No other account has a trade of this side in these days."),
  );
}

const isOfPosition = (trade, other) =>
  other.account_id === trade.account_id &&
  other.root === trade.root &&
  other.direction === trade.direction &&
  other.multiplier === trade.multiplier;
const end = ({ closed_at: at }) => at ?? "9999";

/** @param {TradeListItem} trade @param {TradeListItem[]} others */
function chainOf(trade, others) {
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

/** @param {Context} context @param {Trade} trade @param {TradeListItem[]} listed */
export function mergeOf(context, trade, listed) {
  const chain = chainOf(trade, listed);
  if (!chain.length) return null;
  return h(
    "p.row",
    h(
      "span.muted",
      `${count(chain.length, "other trade")} of this position ${chain.length === 1 ? "touches" : "touch"} it in time.`,
    ),
    mergeButton(context, trade, "Merge them"),
  );
}

export const mergeButton = (context, trade, label) =>
  h("button.merge", { onclick: trying(() => chooseOthers(context, trade)) }, label);

async function chooseOthers(context, trade) {
  const { account_id, root } = trade;
  const others = (await near(context, trade, { account_id, root })).filter(
    (one) => one.id !== trade.id && isOfPosition(trade, one),
  );
  const chain = new Set(chainOf(trade, others).map(({ id }) => id));
  formDialog(
    "Which trades are one position?",
    { id: "merge" },
    (_, element) => {
      const ids = findAll("input:checked", element).map(({ value }) => Number(value));
      return send("POST", "/trades/merge", { body: { ids: [trade.id, ...ids] } });
    },
    ({ data }) => arrive(context, data.trade.id),
    h(
      "p",
      others.length
        ? "The first of them keeps its grade, and all tags, notes and answers. They can be split again."
        : "No other trade of these days has this account, contract and side.",
    ),
    others.map((one) => line(one, context, chain.has(one.id))),
    others.length > 0 && h("button.primary", "Merge into one trade"),
  );
}

const line = (trade, { me }, checked) =>
  checkbox(
    [
      `${trade.symbol}, ${number(trade.quantity)}, ${instant(trade.opened_at, me.timezone)} to `,
      `${trade.closed_at ? instant(trade.closed_at, me.timezone) : "now"}, ${signed(trade.net_pnl)}`,
    ],
    { value: trade.id, checked },
  );

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
