// Maps: what one more stop or target would have made of trades, and a report by two keys.

import { get, href } from "../client.js";
import { open, trying } from "../dialogs.js";
import { card, choiceField, form, h, table, textField } from "../dom.js";
import { MIN_EDGE_DECISIONS } from "../enums.js";
import { amount, count, dayOfYear, gainOrLoss, number, rate, signed, whole } from "../format.js";
import { orRefused } from "./filters.js";
import { newestQuery } from "./report_table.js";

const PAGES = 5; // of 200 trades, that are read at once
const HATCHED = 0.1; // the share of trades that reached both, from which the two ends of a cell matter

/** @param {Context} context */
export async function exitsView({ query, go }, filters) {
  const own = Object.fromEntries(query);
  const asked = { unit: "r", stops: "", targets: "", ...own };
  const inR = asked.unit === "r";
  const { unit, stops, targets } = asked;
  const { data, refused } =
    inR || stops || targets
      ? await orRefused(get("/exits", { ...filters, unit, stops, targets }), {})
      : { data: {} };
  const units = [
    ["r", "R"],
    ["currency", "Money"],
  ];
  return [
    card(
      "Tighter stop, nearer target?",
      h("p", "One more stop or target beside all that you did, with its fees, without slippage."),
      form(
        { class: "row levels" },
        async (values) => go("report", { ...own, ...values }),
        choiceField("Unit", "unit", unit, units),
        textField("Stops", "stops", asked, { placeholder: inR ? "0.25 to 2" : "50, 100" }),
        textField("Targets", "targets", asked, { placeholder: inR ? "0.5 to 5" : "100, 200" }),
        h("button.again", "Show"),
      ),
    ),
    refused ?? (data.exits ? result(data.exits, inR, filters) : empty("Name stops or targets in money.")),
  ];
}

const empty = (text) => h("section.card.empty", h("p", text));

function result({ decisions, without_excursions: without, as_it_was: was, cells, halves }, inR, filters) {
  const needs = inR ? "MAE, MFE and a risk" : "MAE and MFE";
  if (!decisions) return empty(`No closed trade here has ${needs}.`);
  const sign = (value) => signed(value) + (inR ? " R" : "");
  const ends = ({ low, high }) => (low === high ? sign(low) : `${sign(low)} to ${sign(high)}`);
  const nameOf = (cell) =>
    ["stop", "target"]
      .filter((name) => cell[name] != null)
      .map((name) => `${name} ${number(cell[name])}`)
      .join(", ");
  const levels = (name) =>
    [...new Set(cells.map((cell) => cell[name]))].map((one) => [one, one ? number(one) : "none"]);
  const cellOf = (stop, target) => {
    const cell = cells.find((one) => one.stop === stop && one.target === target);
    if (!cell) return null;
    const { difference, changed, either } = cell;
    const { low, high, verdict } = difference;
    return {
      value: low,
      shown: signed(low) + ({ better: " ▲", worse: " ▼" }[verdict] ?? ""),
      small: high !== low && `to ${signed(high)}`,
      isKnown: verdict !== "too_few",
      isHatched: either > HATCHED * decisions,
      label: `${nameOf(cell)}: ${ends(difference)}, ${count(changed, "changed trade")}`,
      press: () => showChanged(cell, inR, filters, nameOf(cell)),
    };
  };
  return card(
    "Change per trade",
    h(
      "p",
      h("strong", `As it was: ${sign(was.expectancy)}`),
      ` in ${count(decisions, "trade")}, ${rate(was.win_rate)} won.`,
      without > 0 && ` ${count(without, "trade")} without ${needs}.`,
    ),
    halves &&
      h(
        "p",
        h("strong", "Chosen here, tried there: "),
        `${nameOf(halves)}, best of the first half, made ${ends(halves.first)} there, `,
        h("strong", ends(halves.second)),
        " in the second half.",
      ),
    heatMap({
      label: "Stops and targets",
      corner: "Stop \\ target",
      rows: levels("stop"),
      columns: levels("target"),
      cellOf,
    }),
    h(
      "p.muted",
      "The low end: where both were reached, the stop came first. Hatched: both in more than 10 % of trades. ",
      "▲ ▼ better or worse, all cells judged together. ",
      `Without colour: fewer than ${MIN_EDGE_DECISIONS} changed trades, which say nothing.`,
    ),
  );
}

// Lists have no filter for it: the newest trades are looked through, then older ones as long as the owner asks.
async function showChanged({ stop, target, changed }, inR, filters, name) {
  const reaches = (trade, value, level) =>
    level != null && value != null && value >= level * (inR ? (trade.initial_risk ?? Infinity) : 1);
  const rows = [];
  const place = h(".stack");
  let seen = 0;
  const look = trying(async () => {
    const query = newestQuery(filters);
    const offsets = Array.from({ length: PAGES }, (_, page) => seen + page * query.limit);
    const pages = await Promise.all(offsets.map((offset) => get("/trades", { ...query, offset })));
    const trades = pages.flatMap(({ data }) => data.trades);
    seen += trades.length;
    for (const trade of trades.filter(({ mae, mfe }) => mae != null && mfe != null)) {
      // It went at least as far as where it was left.
      const stopped = reaches(trade, Math.max(trade.mae, -trade.gross_pnl), stop);
      const reached = reaches(trade, Math.max(trade.mfe, trade.gross_pnl), target);
      if (!stopped && !reached) continue;
      rows.push([
        h(
          "a",
          { href: href("trades", { id: trade.id }) },
          `${trade.symbol}, ${dayOfYear(trade.trading_day)}`,
        ),
        signed(trade.net_pnl),
        amount(trade.mae),
        amount(trade.mfe),
        [stopped && "stop", reached && "target"].filter(Boolean).join(" or "),
      ]);
    }
    place.replaceChildren(
      h("p.muted", `${number(rows.length)} of the newest ${number(seen)} trades; ${number(changed)} in all.`),
      table({ class: "stacked" }, ["Trade", "As it was", "MAE", "MFE", "Reaches"], rows, [
        "",
        "num",
        "num",
        "num",
      ]),
      seen < pages[0].meta.pagination.total ? h("button", { onclick: look }, "Look at older trades") : "",
    );
  });
  open(name, place);
  await look();
}

// The map of a report by two keys, above its table.
const STRONGEST = 45; // percent of the colour, so that text on it stays legible
const MAX_SIDE = 40; // more lines than that are no map
// What cannot be combined, the API refuses with the reason.
const combines = (by, second) => second && by !== second && !/mistake|exits/.test(by + second);

export const secondOf = (by, query) => {
  const second = query.get("and");
  return combines(by, second) ? second : null;
};

export const secondKey = (by, second, groups) =>
  choiceField("and by", "and", second ?? "", [
    ["", "nothing else"],
    ...groups.filter(([key]) => combines(by, key)),
  ]);

const nameOf = ({ names }, by) => names.map((name) => name ?? "none").join(by);

// Each pair as a group with one key and one name.
export const joined = (groups) =>
  groups.map((group) => ({ ...group, key: group.keys, name: nameOf(group, " · ") }));

export function pairMap({ groups, titles, link, inR, switchUnit }) {
  const textOf = JSON.stringify;
  const [rows, columns] = [0, 1].map((at) => [
    ...new Map(groups.map(({ keys, names }) => [textOf(keys[at]), names[at] ?? "none"])),
  ]);
  if (rows.length > MAX_SIDE || columns.length > MAX_SIDE) return null;
  const byPair = new Map(groups.map((group) => [group.keys.map(textOf).join(), group]));
  const edgeOf = ({ edge, edge_r }) => (inR ? edge_r : edge).verdict;
  const cellOf = (row, column) => {
    const group = byPair.get(`${row},${column}`);
    const { values, statistics } = group?.present ?? group ?? {};
    const value = values?.[inR ? "rr_realized_avg" : "expectancy"];
    if (value == null) return null;
    const size = statistics[inR ? "with_risk" : "decisions"];
    return {
      value,
      shown: (inR ? signed : whole)(value) + ({ more: " ▲", less: " ▼" }[edgeOf(group)] ?? ""),
      small: number(size),
      isKnown: size >= MIN_EDGE_DECISIONS,
      label: `${nameOf(group, ", ")}: ${signed(value)}, ${count(size, "trade")}`,
      href: link(group.keys),
    };
  };
  const title = titles.join(" and ").toLowerCase();
  const clear = groups.filter((group) => ["more", "less"].includes(edgeOf(group))).length;
  return h(
    "section.card",
    h(
      ".title",
      h("h2", `${inR ? "Average R" : "Expectancy"} by ${title}`),
      h("button.quiet", { onclick: switchUnit }, inR ? "In money" : "In R"),
    ),
    heatMap({ label: `Map by ${title}`, corner: titles.join(" \\ "), rows, columns, cellOf }),
    h(
      "p.muted",
      `▲ ▼ unlike all other trades, all pairs judged together: ${number(clear)} of ${number(groups.length)}. `,
      `Without colour: fewer than ${MIN_EDGE_DECISIONS} trades, which say nothing.`,
    ),
  );
}

// What few trades made has no colour.
// `rows` and `columns` are [key, name]; `cellOf` returns {value, shown, small, isKnown, isHatched, label, href, press},
// nothing for an empty cell.
function heatMap({ label, corner, rows, columns, cellOf }) {
  const cells = rows.map(([row]) => columns.map(([column]) => cellOf(row, column)));
  const largest = Math.max(...cells.flat().map((one) => (one?.isKnown ? Math.abs(one.value) : 0))) || 1;
  const draw = (cell) => {
    if (!cell) return h("td");
    const { value, isKnown, isHatched, href, press, label: title } = cell;
    const tone = isKnown ? `heat ${gainOrLoss(value)}` : "muted";
    const style = { "--share": `${Math.round((STRONGEST * Math.abs(value)) / largest)}%` };
    const inside = href ? "a" : press ? "button.link" : "div";
    return h(
      "td.num",
      { class: isHatched ? `${tone} hatched` : tone, style },
      h(inside, { href, title, onclick: press }, cell.shown, cell.small && h("small", cell.small)),
    );
  };
  const heads = columns.map(([, name]) => h("th.num", { scope: "col" }, name));
  return h(
    ".scroll",
    { tabindex: "0", role: "region", "aria-label": label },
    h(
      "table.heat-map",
      h("thead", h("tr", h("th", { scope: "col" }, corner), heads)),
      h(
        "tbody",
        rows.map(([, name], at) => h("tr", h("th", { scope: "row" }, name), cells[at].map(draw))),
      ),
    ),
  );
}
