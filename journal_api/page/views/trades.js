// #/trades: the list of trades, and the trade that the address names (id) beside it.

import { get } from "../client.js";
import { h, open, trying } from "../dom.js";
import { filterForm, filtersOf, orRefused } from "./filters.js";
import { tradePanel } from "./trade.js";
import { editTrade } from "./trade_form.js";
import { keys } from "./trade_keys.js";
import { address, pages, table } from "./trade_table.js";
import { daysQuestion } from "./welcome.js";

const LIMIT = 50;
/** @param {Context} context */
export async function view(context) {
  const { query } = context;
  const id = query.get("id");
  const offset = Number(query.get("offset") ?? 0);
  const [
    {
      data: { trades },
      meta,
      refused,
    },
    strategies,
    tags,
    opened,
  ] = await Promise.all([
    orRefused(get("/trades", { ...filtersOf(context), limit: LIMIT, offset }), { trades: [] }),
    get("/strategies"),
    get("/tags"),
    id && orMissing(get(`/trades/${encodeURIComponent(id)}`)),
  ]);
  const ofStrategy = query.get("strategy_id") ?? (query.get("setup_id") && trades[0]?.strategy_id);
  const ofFilter =
    ofStrategy && (await orMissing(get(`/strategies/${encodeURIComponent(ofStrategy)}/setups`)));
  const lists = { strategies: strategies.data.strategies, tags: tags.data.tags, trades };
  const panel = id && (await tradePanel(context, lists, opened, address(query, { id: null })));
  requestAnimationFrame(() =>
    document.querySelector("#trades [aria-current]")?.scrollIntoView({ block: "nearest" }),
  );
  return [
    h(
      ".title",
      h("h1", "Trades"),
      keys(),
      h("button", { onclick: trying(() => addTrade(context, lists)) }, "Add a trade"),
    ),
    filterForm(context, {
      ...lists,
      setups: ofFilter?.data.setups,
      symbols: [...new Set(trades.map(({ symbol }) => symbol))],
      outcomes: true,
    }),
    refused ??
      (trades.length === 0 && !id
        ? nothing(query)
        : h(
            "div",
            { class: panel ? "beside" : "" },
            h(
              "section#trades.card.list",
              { "aria-label": "List of trades" },
              table(context, lists, trades),
              pages(query, meta.pagination),
            ),
            panel,
          )),
  ];
}

// A new journal is asked for its days first: the times of the trade are read in the zone that is chosen.
async function addTrade(context, lists) {
  const question = await daysQuestion(context, async (me) => {
    dialog.close();
    await context.redraw();
    editTrade({ ...context, me }, lists);
  });
  if (!question) return editTrade(context, lists);
  const dialog = open("First, your trading days", question);
}

// Undefined for what does not exist any more.
const orMissing = (reading) =>
  reading.catch((error) => {
    if (error.status !== 404) throw error;
  });

function nothing(query) {
  return h(
    "section.card.empty",
    h(
      "p",
      query.size
        ? "No trade matches these filters."
        : "There is no trade yet. Import the file of a broker or a platform, or add a trade by hand.",
    ),
    h(
      ".row",
      query.size ? h("a", { href: "#/trades" }, "All trades") : h("a", { href: "#/import" }, "Import a file"),
    ),
  );
}
