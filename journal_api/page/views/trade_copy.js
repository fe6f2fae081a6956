// Whose copy the open trade is: the original, taking the link away, and choosing another.

import { get, send } from "../client.js";
import { form, h, open, trying } from "../dom.js";
import { count, dayIn, instant, number, price, plusDays, signed } from "../format.js";

const nameOf = (accounts, id) => accounts.find((one) => one.id === id)?.name;

// `original` is the trade that this one copies, if it is a copy.
/** @param {Context} context @param {Trade} trade @param {Trade | undefined} original @param {() => any} latest */
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
        original ? `${original.symbol} in ${nameOf(context.accounts, original.account_id)}` : "another trade",
      ),
      ". Reports judge the decision by the original: ",
      "its grade, tags, strategy and answers count, not those below.",
    ),
    original && h("p.muted", judgementOf(original)),
    h("button#unlink", { onclick: unlink }, "Unlink"),
  );
}

function judgementOf({ grade, tags, confirmations }) {
  const answers = confirmations.length && count(confirmations.length, "answer");
  const words = [grade && `grade ${grade}`, ...tags.map(({ name }) => name), answers].filter(Boolean);
  return words.length ? `The original has ${words.join(", ")}.` : "The original is not judged yet.";
}

// Offered where there is another account to copy.
export const linkButton = (context, trade, latest) =>
  !trade.source_trade_id &&
  context.accounts.length > 1 &&
  h("button#link", { onclick: trying(() => choose(context, trade, latest)) }, "Copy of…");

async function link({ redraw }, trade, source_trade_id, latest) {
  await send("PATCH", `/trades/${trade.id}`, { body: { source_trade_id }, etag: latest().etag });
  await redraw();
}

// The trades of other accounts in these days, the nearest in time first.
async function choose(context, trade, latest) {
  const { me, accounts } = context;
  const day = trade.trading_day ?? dayIn(me.timezone, new Date(trade.opened_at));
  const query = { direction: trade.direction, from: plusDays(day, -1), to: plusDays(day, 1), limit: 200 };
  const near = (await get("/trades", query)).data.trades;
  const distance = ({ opened_at: at }) => Math.abs(Date.parse(at) - Date.parse(trade.opened_at));
  const originals = near
    .filter((one) => one.account_id !== trade.account_id && !one.source_trade_id)
    .sort((one, other) => distance(one) - distance(other))
    .slice(0, 12);
  const option = (one, place) =>
    h(
      "label.check",
      h("input", { type: "radio", name: "original", value: String(one.id), checked: !place }),
      h(
        "span",
        `${nameOf(accounts, one.account_id)}: ${one.symbol}, ${number(one.quantity)} at `,
        `${price(one.entry_price)}, ${instant(one.opened_at, me.timezone)}, ${signed(one.net_pnl)}`,
      ),
    );
  const dialog = open(
    `${trade.symbol} is a copy of`,
    originals.length
      ? form(
          { id: "choose-original" },
          async ({ original }) => {
            await link(context, trade, Number(original), latest);
            dialog.close();
          },
          originals.map(option),
          h("button.primary", "Link"),
        )
      : h("p", "No other account has a trade of this side in these days."),
  );
}
