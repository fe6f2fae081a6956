// What one more stop or target would have made of trades.

import { get, href } from "../client.js";
import { open } from "../dialogs.js";
import { card, choiceField, form, h, table, textField } from "../dom.js";
import { MIN_EDGE_DECISIONS } from "../enums.js";
import { amount, count, dayOfYear, number, rate, signed } from "../format.js";
import { orRefused } from "./filters.js";
import { heatMap } from "./pairs.js";
import { newestQuery } from "./shape.js";

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

// Of the newest trades: lists have no filter for it.
async function showChanged({ stop, target, changed }, inR, filters, name) {
  const { trades } = (await get("/trades", newestQuery(filters))).data;
  const reaches = (trade, value, level) =>
    level != null && value != null && value >= level * (inR ? (trade.initial_risk ?? Infinity) : 1);
  const rows = trades
    .filter(({ mae, mfe }) => mae != null && mfe != null)
    .map((trade) => [trade, reaches(trade, trade.mae, stop), reaches(trade, trade.mfe, target)])
    .filter(([, stopped, reached]) => stopped || reached)
    .map(([trade, stopped, reached]) => [
      h("a", { href: href("trades", { id: trade.id }) }, `${trade.symbol}, ${dayOfYear(trade.trading_day)}`),
      signed(trade.net_pnl),
      amount(trade.mae),
      amount(trade.mfe),
      [stopped && "stop", reached && "target"].filter(Boolean).join(" or "),
    ]);
  open(
    name,
    h(
      "p.muted",
      `${number(rows.length)} of the newest ${number(trades.length)} trades; ${number(changed)} in all.`,
    ),
    table({ class: "stacked" }, ["Trade", "As it was", "MAE", "MFE", "Reaches"], rows, [
      "",
      "num",
      "num",
      "num",
    ]),
  );
}
