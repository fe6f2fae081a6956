// Maps of two keys, and the map of a report by two keys, above its table.

import { choiceField, h } from "../dom.js";
import { MIN_EDGE_DECISIONS } from "../enums.js";
import { count, gainOrLoss, number, signed, whole } from "../format.js";

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
export function heatMap({ label, corner, rows, columns, cellOf }) {
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
