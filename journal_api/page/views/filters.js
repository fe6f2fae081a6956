// Filters stand in the address, under the names that the API has for them.

import { href } from "../client.js";
import { field, find, findAll, h, select, wordsOf } from "../dom.js";
import { DIRECTIONS, GRADES, OUTCOMES } from "../enums.js";
import { inWords, plusDays, tradingDay, weekOf, words } from "../format.js";

const NAMES = [
  "account_id",
  "copy_group_id",
  "strategy_id",
  "setup_id",
  "tag_id",
  "import_id",
  "symbol",
  "root",
  "direction",
  "grade",
  "outcome",
  "fees_source",
  "source_trade_id",
  "copies",
  "from",
  "to",
];
const TYPED = 600; // milliseconds until what is typed counts
const named = (list) => (list ?? []).map((one) => [one.id ?? one.setup_id, one.name]);

// Which accounts, the bar says, unless the address does.
export function filtersOf({ query, selection }) {
  const own = Object.fromEntries(
    NAMES.filter((name) => query.get(name)).map((name) => [name, query.get(name)]),
  );
  return own.account_id || own.copy_group_id ? own : { ...selection, ...own };
}

// Unless the address says it, copies are folded where trades of several accounts are listed as a whole.
const WHOLE = ["account_id", "import_id", "source_trade_id"];
const folds = (accounts, filters) => accounts.length > 1 && !WHOLE.some((name) => filters[name]);

/** @param {Context} context */
export function listFiltersOf(context) {
  const filters = filtersOf(context);
  const copies = filters.copies ?? String(!folds(context.accounts, filters));
  return { ...filters, copies: copies === "false" ? "false" : null };
}

export const orRefused = (reading, data) =>
  reading.catch((error) => {
    if (error.status !== 400) throw error;
    return { data, refused: h("section.card.error", { role: "alert" }, wordsOf(error)) };
  });

// `fixed` is what else the address keeps.
/** @param {Context} context @param {any} lists */
export function filterForm(context, { strategies, setups, rest, singles, symbols, outcomes }, fixed = {}) {
  const { name: place, query, go, me, accounts, copyGroups } = context;
  const value = (name) => query.get(name) ?? "";
  const count = NAMES.filter(value).length;
  const periods = periodsUntil(tradingDay(me));
  const chosen = `${value("from")} ${value("to")}`;
  const choice = (name, label, any, options) =>
    field(label, select({ name, id: `filter-${name}`, value: value(name) }, [["", any], ...options]));
  const tagChoice = (id, label, tags) => {
    const chosen = tags.some((tag) => String(tag.id) === value("tag_id")) ? value("tag_id") : "";
    const options = [["", "Any"], ...named(tags)];
    return field(label, select({ name: "tag_id", id: `filter-${id}`, value: chosen }, options));
  };
  const typed = (name, label, type, more) =>
    field(label, h("input", { name, type, id: `filter-${name}`, value: value(name), ...more }));
  let timer;
  const apply = () => {
    clearTimeout(timer);
    if (!form.isConnected) return;
    const filters = Object.fromEntries(
      [...new FormData(form)].filter(([name, text]) => text || name !== "tag_id"),
    );
    if (filters.strategy_id !== value("strategy_id")) filters.setup_id = "";
    go(place, { ...fixed, ...filters });
  };
  const changed = ({ target }) => {
    if (target.id === "filter-period")
      [form.elements.from.value, form.elements.to.value] = target.value.split(" ");
    // Several lists choose one tag.
    for (const other of findAll("[name=tag_id]", form))
      if (target.name === "tag_id" && other !== target) other.value = "";
    clearTimeout(timer);
    timer = setTimeout(apply, target.tagName === "SELECT" ? 0 : TYPED);
  };
  // Filters without a control can be taken away.
  const others = [
    ...["account_id", "copy_group_id", "import_id", "root", "fees_source", "source_trade_id"],
    ...(setups ? [] : ["setup_id"]),
  ]
    .filter(value)
    .map((name) => {
      const list = { account_id: accounts, copy_group_id: copyGroups }[name];
      const label =
        list?.find((one) => one.id === Number(value(name)))?.name ??
        { source_trade_id: "copies of one trade" }[name] ??
        `${words(name.replace("_id", ""))} ${value(name)}`;
      const remove = ({ currentTarget }) => {
        currentTarget.nextSibling.remove();
        apply();
      };
      return [
        h("button", { "aria-label": `Remove the filter ${label}`, onclick: remove }, label, " ✕"),
        h("input", { type: "hidden", name, value: value(name) }),
      ];
    });
  const form = h(
    "form.filters",
    {
      onchange: changed,
      onsubmit: (event) => {
        event.preventDefault();
        apply();
      },
    },
    field(
      "Period",
      select(
        { id: "filter-period", value: chosen },
        periods.some(([days]) => days === chosen) ? periods : [...periods, [chosen, "Custom"]],
      ),
    ),
    typed("from", "From", "date"),
    typed("to", "To", "date"),
    typed("symbol", "Symbol", "text", { list: "symbols" }),
    symbols &&
      h(
        "datalist#symbols",
        symbols.map((symbol) => h("option", { value: symbol })),
      ),
    choice("strategy_id", "Strategy", "Any", named(strategies)),
    setups && choice("setup_id", "Setup", "Any", named(setups)),
    tagChoice("tag_id", "Tag", rest),
    singles.map(({ id, name: label, tags }) => tagChoice(`category-${id}`, label, tags)),
    choice("direction", "Side", "Both", inWords(DIRECTIONS)),
    choice(
      "grade",
      "Grade",
      "Any",
      GRADES.map((grade) => [grade, grade]),
    ),
    outcomes && choice("outcome", "Outcome", "Any", inWords(OUTCOMES)),
    outcomes &&
      accounts.length > 1 &&
      (folds(accounts, filtersOf(context))
        ? choice("copies", "Copies", "Originals", [["true", "With copies"]])
        : choice("copies", "Copies", "With copies", [["false", "Originals"]])),
    others,
    count > 0 && h("a", { href: href(place, fixed) }, "Clear all"),
  );
  const open = find("#filters")?.open ?? matchMedia("(min-width: 760px)").matches;
  return h("details#filters.card", { open }, h("summary", count ? `Filters (${count})` : "Filters"), form);
}

function periodsUntil(today) {
  const since = (day) => `${day} ${today}`;
  return [
    [" ", "All time"],
    [since(weekOf(today).from), "This week"],
    [since(`${today.slice(0, 8)}01`), "This month"],
    [since(plusDays(today, -29)), "30 days"],
    [since(plusDays(today, -89)), "90 days"],
    [since(`${today.slice(0, 5)}01-01`), "This year"],
  ];
}
