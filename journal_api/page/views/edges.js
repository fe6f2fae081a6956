// Decisions with a confirmation, tag or rule beside those without it, and now beside before.

import { axis, interval, isOffZero, scaleOf } from "../charts.js";
import { card, h } from "../dom.js";
import { MIN_EDGE_DAYS, MIN_EDGE_DECISIONS } from "../enums.js";
import { count, number, plusDays, rate, signed, span, whole, whyNone } from "../format.js";
import { currencyOf, frame, sortable } from "./report_table.js";

// What the table can be sorted by.
const SORTS = {
  present: (group) => sidesOf(group)[0].expectancy,
  absent: (group) => sidesOf(group)[1].expectancy,
  edge: ({ edge }) => edge.expectancy,
  edge_r: ({ edge_r }) => edge_r.expectancy,
};
export const isEdgeSort = (sort) => /^-?(present|absent|edge|edge_r)$/.test(sort);

const VERDICTS = {
  more: ["gain", "▲ Earns more with it"],
  less: ["loss", "▼ Earns less with it"],
  not_shown: ["muted", "No difference shown"],
};

// The trades with it and without it; of those without a tag, the API says how many, and their mean by the edge.
const sidesOf = ({ present, absent, values, edge }) =>
  present
    ? [present.values, absent.values]
    : [
        values,
        {
          trade_count: edge.absent,
          expectancy: edge.expectancy == null ? null : values.expectancy - edge.expectancy,
        },
      ];

export function edgeTable({ title, groups: all, link, sort, sortBy }) {
  const groups = all.filter(({ key, edge }) => key != null && edge);
  if (!groups.length) return null;
  const sorted = isEdgeSort(sort) ? sort : sort && !sort.startsWith("-") ? "edge" : "-edge";
  const valueOf = SORTS[sorted.replace("-", "")];
  const sign = sorted.startsWith("-") ? -1 : 1;
  const has = (group) => valueOf(group) != null;
  const rows = [
    ...groups.filter(has).sort((one, other) => sign * (valueOf(one) - valueOf(other))),
    ...groups.filter((group) => !has(group)),
  ];
  const scaleIn = (name, drawn) =>
    scaleOf(drawn.flatMap((group) => [group[name].low ?? 0, group[name].high ?? 0]));
  const currencies = new Set(groups.filter(({ edge }) => edge.low != null).map(currencyOf));
  const scalesFor = (group) => [
    scaleIn(
      "edge",
      groups.filter((one) => currencyOf(one) === currencyOf(group)),
    ),
    scaleIn("edge_r", groups),
  ];
  const scales = scalesFor(groups.find((group) => currencies.has(currencyOf(group))) ?? groups[0]);
  const head = ([key, text]) => sortable([key, text], sorted, sortBy);
  return [
    h(
      "p",
      h("strong", foundIn(groups)),
      groups.length > 1 ? " A line by itself is" : "The line is",
      " the 95 % interval of the difference",
      groups.length > 1 && "; the words beside it take all lines together",
      ".",
    ),
    frame(
      title,
      [
        ...[
          ["present", "With it"],
          ["absent", "Without it"],
          ["edge", "Edge per trade"],
          ["edge_r", "Edge in R"],
        ].map(head),
        h("th.verdict", { scope: "col" }, "What it says"),
      ],
      rows.map((group) => rowOf(group, scalesFor(group), link)),
      [
        h("td", { colspan: "3" }),
        h("td", currencies.size === 1 && axis(scales[0], whole)),
        h("td", axis(scales[1], signed)),
        h("td"),
      ],
      "edges",
    ),
  ];
}

// How many lines show a difference, when all of them are judged together.
function foundIn(groups) {
  const judged = groups.filter(({ edge }) => edge.q != null).length;
  const shown = groups.filter(({ edge }) => ["more", "less"].includes(edge.verdict)).length;
  if (groups.length === 1) return "";
  if (!judged) return "There are too few trades to tell a difference.";
  return shown
    ? `${number(shown)} of ${count(judged, "line")} ${shown === 1 ? "shows" : "show"} a difference.`
    : `None of ${count(judged, "line")} shows a difference.`;
}

function rowOf(group, scales, link) {
  const { key, name, setup, strategy, unanswered, edge, edge_r } = group;
  const unknown = unanswered?.values.trade_count;
  const href = link(key);
  const [present, absent] = sidesOf(group);
  return [
    h(
      "th.name",
      { scope: "row" },
      href ? h("a", { href }, name) : name,
      setup && h("small", `${strategy} › ${setup}`, unknown > 0 && ` · ${number(unknown)} unanswered`),
    ),
    side("With it", present),
    side("Without it", absent),
    lineOf(edge, scales[0]),
    lineOf(edge_r, scales[1], " R"),
    h("td.verdict", verdictOf(edge, edge_r)),
  ];
}

export const side = (label, { expectancy, trade_count: trades, win_rate }) =>
  h(
    "td.num.side",
    { "data-label": label },
    signed(expectancy),
    h("small", trades ? number(trades) : "none", win_rate != null && ` · ${rate(win_rate)} won`),
  );

const toneOf = ({ verdict }) => ({ more: "gain", less: "loss" })[verdict] ?? "plain";
export const lineOf = (edge, scale, unit = "") =>
  h(
    "td.edge",
    edge.low != null && [
      interval(edge, edge.expectancy, scale, toneOf(edge)),
      h("small", `${signed(edge.expectancy)}${unit} (${signed(edge.low)} to ${signed(edge.high)})`),
    ],
  );

const besideOf = ({ name, agreement }, verdict) =>
  (agreement < 50
    ? `Has the opposite of ${name} in ${rate(100 - agreement)} of trades: beside it, `
    : `Has the answer of ${name} in ${rate(agreement)} of trades: beside it, `) +
  (verdict === "not_shown" ? "nothing shown." : "it is still shown.");

function verdictOf(edge, edge_r) {
  const { reason, verdict, present, absent, more_needed: more, moves_with: beside } = edge;
  if (verdict === "too_few") {
    const needed =
      reason === "too_few_days"
        ? `too few days to tell; ${MIN_EDGE_DAYS} on each side are needed.`
        : `too few to tell; ${MIN_EDGE_DECISIONS} on each side are needed.`;
    return h("span.muted", `${count(present, "trade")} with it, ${number(absent)} without: ${needed}`);
  }
  const inR = VERDICTS[edge_r.verdict];
  if (reason) return [h("span.muted", whyNone(reason)), inR && h("small", `In R: ${inR[1]}`)];
  const [tone, text] = VERDICTS[verdict];
  return [
    h("span", { class: tone }, text),
    beside && h("small", besideOf(beside, verdict)),
    verdict === "not_shown" &&
      !beside &&
      isOffZero(edge) &&
      h(
        "small",
        edge.p > 0.05
          ? "By itself it looks clear, but a few large results can make that by chance."
          : "By itself it looks clear, but so does one of 20 by chance.",
      ),
    more &&
      h(
        "small",
        `About ${count(Number(more.toPrecision(2)), "more trade")} would make it clear, if it stays so.`,
      ),
    edge.expectancy * edge_r.expectancy < 0 &&
      h(
        "small",
        { class: tone !== "muted" && "warn" },
        "In R it is the other way round",
        tone === "muted" ? "." : ": size, or which trades have a risk, makes the difference.",
      ),
  ];
}

// A report beside the range before it.
const CHANGES = {
  more: ["gain", "▲ Better than before"],
  less: ["loss", "▼ Worse than before"],
  not_shown: VERDICTS.not_shown,
};

const isMonth = ({ from, to }) => from?.endsWith("-01") && to?.startsWith(from.slice(0, 7));

// Of a part of a month the month before, else as many days.
export function rangeBefore({ from, to }) {
  if (!from || !to || from > to) return null;
  const last = plusDays(from, -1);
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
  return { from: isMonth({ from, to }) ? `${last.slice(0, 8)}01` : plusDays(last, -days), to: last };
}

// Without a range, this month.
export const withBefore = (own, kept, today) => ({
  ...{ from: `${today.slice(0, 8)}01`, to: today },
  ...{ ...own, ...kept, beside: "before" },
});
export const nameBefore = (own) =>
  !own.from || isMonth(own) ? "and the month before" : "and as many days before";

export function besideCard({ title, report, groups, before }) {
  const rows = [...groups, { ...report.total, name: "All" }];
  const scale = scaleOf(rows.flatMap(({ difference: { low, high } }) => [low ?? 0, high ?? 0]));
  const cells = (group) => {
    const now = group.values ? group : group.present;
    const { verdict, reason } = group.difference;
    const [tone, text] = CHANGES[verdict] ?? ["muted", whyNone(reason)];
    return [
      h("th.name", { scope: "row" }, group.name ?? `No ${title.toLowerCase()}`),
      side("Now", now.values),
      side("Before", group.before?.values ?? {}),
      lineOf(group.difference, scale),
      h("td.verdict", h("span", { class: tone }, text)),
    ];
  };
  const head = (name, kind) => h("th", { scope: "col", class: kind }, name);
  return card(
    `Beside ${span(before.from, before.to)}`,
    frame(
      title,
      [
        head("Now", "num"),
        head("Before", "num"),
        head("Difference and 95 % interval", "edge"),
        head("All lines together", "verdict"),
      ],
      rows.map(cells),
      [h("td", { colspan: "3" }), h("td", axis(scale, whole)), h("td")],
      "edges",
    ),
  );
}
