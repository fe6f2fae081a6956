// #/trades

import { get } from "../client.js";
import { open, trying } from "../dialogs.js";
import { find, findAll, h, isKey, isTyping, withKeys } from "../dom.js";
import { filterForm, listFiltersOf, orRefused } from "./filters.js";
import { readTags } from "./tags.js";
import { tradePanel } from "./trade.js";
import { editTrade } from "./trade_form.js";
import { address, choose, clear, pages, selectionBar, table } from "./trade_list.js";
import { daysQuestion } from "./welcome.js";

const LIMIT = 50;
let isEntering = false; // by a press on a trade: the focus follows

/** @param {Context} context */
export async function view(context) {
  const { query } = context;
  const id = query.get("id");
  const offset = Number(query.get("offset") ?? 0);
  const filters = listFiltersOf(context);
  const before = find("#trade")?.dataset.id;
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
    orRefused(get("/trades", { ...filters, limit: LIMIT, offset }), { trades: [] }),
    get("/strategies"),
    readTags(),
    id && orMissing(get(`/trades/${encodeURIComponent(id)}`)),
  ]);
  const ofStrategy = query.get("strategy_id") ?? (query.get("setup_id") && trades[0]?.strategy_id);
  const ofFilter =
    ofStrategy && (await orMissing(get(`/strategies/${encodeURIComponent(ofStrategy)}/setups`)));
  const lists = { strategies: strategies.data.strategies, ...tags, trades };
  const panel = id && (await tradePanel(context, lists, opened, address(query, { id: null })));
  const isAdded = !find("main :focus, #trade");
  const isEntered = id && (isEntering || isAdded);
  isEntering = false;
  requestAnimationFrame(() => {
    bringIntoSight(id, before);
    keyedRow();
    if (isEntered) find("#trade")?.focus();
  });
  return [
    h(
      ".title",
      h("h1", "Trades"),
      keys(tags.singles.length > 0),
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
        ? nothing(query, filters)
        : h(
            "div",
            { class: panel ? "beside" : "" },
            h(
              "section#trades.card.list",
              { "aria-label": "List of trades" },
              table(context, lists, trades),
              pages(query, meta.pagination, filters),
            ),
            panel,
          )),
    selectionBar(context, lists, filters, meta?.pagination.total ?? 0),
  ];
}

// Where there is no room beside the list, an opened trade comes first, and a closed one leads back to its row.
function bringIntoSight(id, before) {
  const isNarrow = matchMedia("(max-width: 860px)").matches;
  if (!isNarrow) find("#trades [aria-current]")?.scrollIntoView({ block: "nearest" });
  else if (id && id !== before) find("#trade")?.scrollIntoView({ block: "start" });
  else if (!id && before) find(`#trade-${before}`)?.scrollIntoView({ block: "center" });
}

async function addTrade(context, lists) {
  const question = await daysQuestion(context, async (me) => {
    dialog.close();
    await context.redraw();
    editTrade({ ...context, me }, lists);
  });
  if (!question) return editTrade(context, lists);
  const dialog = open("First, your trading days", question);
}
const orMissing = (reading) =>
  reading.catch((error) => {
    if (error.status !== 404) throw error;
  });

function nothing(query, { copies }) {
  return h(
    "section.card.empty",
    h(
      "p",
      query.size || copies
        ? "No trade matches these filters."
        : "No trade yet. Import a file of your broker, or add a trade by hand.",
    ),
    h(
      ".row",
      query.size || copies
        ? h("a", { href: "#/trades?copies=true" }, "All trades")
        : h("a", { href: "#/import" }, "Import a file"),
    ),
  );
}

const keys = (hasSingles) =>
  h(
    "p.muted.keys",
    withKeys(
      `\`j\` \`k\` move · \`Enter\` open · \`1\`–\`6\` grade A+ to F${hasSingles ? ", \`t\` the next row of buttons" : ""} · \`x\` \`X\` \`a\` select · \`e\` change · \`Esc\` close`,
    ),
  );

// The row of buttons of the open trade that digits press.
let keyed = 0;
function keyedRow() {
  const rows = findAll("#trade .marks");
  rows.forEach((row, place) =>
    row.classList.toggle("keyed", rows.length > 1 && place === keyed % rows.length),
  );
  return rows[keyed % rows.length];
}

const BUTTONS = { a: "#select-all:enabled", e: "#change-many:not([hidden])" };
const toggle = (box, isRange) => choose(box, isRange, isRange || !box.checked);

function pressed(event) {
  const list = find("#trades");
  if (list && event.key === "Escape" && isTyping(event) && !event.target.closest("dialog"))
    event.target.blur();
  if (!list || !isKey(event)) return;
  const panel = find("#trade");
  const links = findAll("tbody a", list);
  const place = (selector) => links.findIndex((link) => link.closest("tr").matches(selector));
  const here = place(":focus-within") < 0 ? place("[aria-current]") : place(":focus-within");
  const step = { j: 1, k: -1 }[event.key];
  const digit = /^[1-9]$/.test(event.key) && Number(event.key);
  if (step) {
    const link = links[here < 0 ? 0 : here + step];
    link?.focus();
    link?.scrollIntoView({ block: "nearest" });
    if (link && panel) location.replace(link.href);
  } else if (event.key.toLowerCase() === "x" && links[here])
    toggle(find("input", links[here].closest("tr")), event.shiftKey);
  else if (BUTTONS[event.key]) find(BUTTONS[event.key])?.click();
  else if (digit) isOfAddress(panel) && findAll("button", keyedRow())[digit - 1]?.click();
  else if (event.key === "t" && panel) {
    keyed += 1;
    keyedRow();
  } else if (event.key === "Escape" && panel) {
    links[here]?.focus();
    find(".close", panel).click();
  } else if (event.key !== "Escape" || !clear()) return;
  event.preventDefault();
}

// While the next trade is read, the panel is still that of the last.
const isOfAddress = (panel) =>
  panel?.dataset.id && panel.dataset.id === new URLSearchParams(location.hash.split("?")[1]).get("id");

document.addEventListener("keydown", pressed);
document.addEventListener("click", ({ target }) => {
  isEntering = Boolean(/** @type {Element} */ (target).closest("#trades tbody a"));
});
