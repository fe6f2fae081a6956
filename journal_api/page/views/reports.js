// #/report: what pays, by strategy, setup, tag, hour and so on (GET /v1/reports).

import { get } from "../client.js";
import { h } from "../dom.js";
import { count, gainOrLoss, number, plusDays, rate, ratio, signed } from "../format.js";
import { bar, scaleOf, sortable } from "./bars.js";
import { edgeTable } from "./edges.js";
import { filterForm, filtersOf, orRefused } from "./filters.js";

const LIMIT = 200;
const GROUPS = [
  ["strategy", "Strategy"], ["setup", "Setup"], ["confirmation", "Confirmation"], ["tag", "Tag"], ["mistake", "Mistake"],
  ["symbol", "Symbol"], ["direction", "Side"], ["grade", "Grade"], ["weekday", "Weekday"], ["hour", "Hour"],
  ["holding", "Holding time"], ["account", "Account"], ["month", "Month"],
];
const COLUMNS = [ // metric, title, format, whether the sign has a colour
  ["net_pnl", "Net P&L", signed, true],
  ["trade_count", "Decisions", number],
  ["win_rate", "Win rate", rate],
  ["expectancy", "Expectancy", signed, true],
  ["rr_realized_avg", "Average R", signed, true],
  ["profit_factor", "Profit factor", ratio],
];
const REASONS = { no_risk: "no stop or risk", no_wins_or_losses: "no wins or losses" };
// The filter of trades that selects a group.
const FILTERS = {
  strategy: (key) => ({ strategy_id: key }), setup: (key) => ({ setup_id: key }), tag: (key) => ({ tag_id: key }),
  mistake: (key) => ({ tag_id: key }), symbol: (key) => ({ symbol: key }), direction: (key) => ({ direction: key }),
  grade: (key) => ({ grade: key }), account: (key) => ({ account_id: key }),
  month: (key) => ({ from: key, to: plusDays(`${plusDays(key, 31).slice(0, 8)}01`, -1) }),
};

export async function view(context) {
  const { query, go } = context;
  const by = GROUPS.some(([key]) => key === query.get("by")) ? query.get("by") : "strategy";
  const isMistake = by === "mistake";
  const sort = query.get("sort") ?? (isMistake ? "net_pnl" : undefined);
  const filters = filtersOf(context);
  const group_by = isMistake ? "tag" : by;
  const [{ data: { report }, meta, refused }, strategies, tags] = await Promise.all([
    orRefused(get("/reports", { ...filters, outcome: undefined, group_by, sort: by === "confirmation" ? undefined : sort, limit: LIMIT }), {}),
    get("/strategies"), get("/tags"),
  ]);
  requestAnimationFrame(() => document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }));
  const own = Object.fromEntries([...query].filter(([name]) => name !== "by" && name !== "sort"));
  return [
    h("h1", { class: "unseen" }, "What pays"),
    h("nav", { class: "tabs", "aria-label": "Group by" }, GROUPS.map(([key, title]) =>
      h("a", { href: `#/report?${new URLSearchParams({ ...own, by: key })}`, id: `by-${key}`, "aria-current": key === by && "true" }, title))),
    filterForm(context, { strategies: strategies.data.strategies, tags: tags.data.tags, symbols: by === "symbol" && !refused ? report.groups.map(({ key }) => key) : [] }, { by, sort: query.get("sort") ?? "" }),
    refused ?? (report.total.values.trade_count === 0 ? nothing(own)
      : groupsOf(report, { by, sort, own, go, tags: tags.data.tags, total: meta.pagination.total })),
  ];
}

function groupsOf(report, { by, sort, own, go, tags, total }) {
  const isMistake = by === "mistake";
  const mistakes = new Set(tags.filter(({ type }) => type === "mistake").map(({ id }) => id));
  const groups = isMistake ? report.groups.filter(({ key }) => mistakes.has(key)) : report.groups;
  const trades = (filter) => `#/trades?${new URLSearchParams({ ...own, ...filter })}`;
  const link = (key) => key != null && FILTERS[by] && trades(FILTERS[by](key));
  const sortBy = (key) => go("report", { ...own, by, sort: key });
  return h("section", { class: "card" },
    isMistake && h("p", null, costOf(groups, report.total, mistakes.size)),
    groups.length > 0 && (by === "confirmation" ? edgeTable({ groups, trades, sort, sortBy }) : reportTable({ by, sort, groups, report, link, sortBy })),
    total > LIMIT && h("p", { class: "muted" }, `The first ${LIMIT} of ${number(total)} groups.`),
    h("p", { class: "muted" }, note(by, report)));
}

const nothing = (own) => h("section", { class: "card empty" },
  h("p", null, Object.keys(own).length ? "No closed trade matches these filters." : "Closed trades are compared here once the journal has some."),
  h("div", { class: "row" }, h("a", { href: "#/import" }, "Import a file"), h("a", { href: "#/trades" }, "Trades")));

function costOf(groups, total, defined) {
  if (!defined) return "No tag is of the type mistake. Make one under Settings, tag trades with it, and its cost stands here.";
  if (!groups.length) return "No trade here has a tag of the type mistake.";
  if (groups.some(({ values }) => values.net_pnl == null)) return "Accounts in different currencies count here: choose an account.";
  const costs = groups.filter(({ values }) => values.net_pnl < 0);
  const [worst] = [...costs].sort((one, other) => one.values.net_pnl - other.values.net_pnl);
  if (!worst) return "No mistake cost money here.";
  const { net_pnl: net, trade_count: times } = worst.values;
  return [`The dearest mistake is ${worst.name}: `, h("strong", { class: "loss" }, signed(net)), ` in ${count(times, "decision")}. `,
    `Over all ${count(total.values.trade_count, "decision")} the expectancy is ${signed(total.values.expectancy)}.`];
}

const note = (by, { timezone }) => [
  "A decision is a trade with its copies; only closed trades count.",
  by === "tag" || by === "mistake" ? " A decision with two tags is in both rows, so rows do not add up to the total." : "",
  by === "hour" ? ` The hour is that of opening, in ${timezone}.` : "",
].join("");

function reportTable({ by, sort, groups, report, link, sortBy }) {
  const scales = Object.fromEntries(COLUMNS.map(([key]) => [key, scaleOf(groups.map(({ values }) => values[key] ?? 0))]));
  const title = GROUPS.find(([key]) => key === by)[1];
  const named = ({ key, name }) => {
    const label = name ?? `No ${title.toLowerCase()}`;
    const href = link(key);
    return h("th", { scope: "row", class: "name" }, href ? h("a", { href }, label) : label);
  };
  const cells = ({ values, reasons }, isTotal) => COLUMNS.map(([key, , format, isSigned]) => h("td", { class: `num ${key}` },
    values[key] == null
      ? h("small", null, REASONS[reasons[key]] ?? reasons[key].replaceAll("_", " "))
      : [h("span", { class: isSigned && gainOrLoss(values[key]) }, format(values[key])),
        !isTotal && bar(values[key], scales[key], isSigned ? gainOrLoss(values[key]) : "plain")]));
  const hint = h("p", { class: "muted", hidden: true }, "Scroll the table to the right for win rate, expectancy, R and profit factor.");
  const scroller = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `By ${title.toLowerCase()}` }, h("table", { class: "report" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, title), COLUMNS.map((column) => sortable(column, sort, sortBy)))),
    h("tbody", null, groups.map((group) => h("tr", null, named(group), cells(group)))),
    h("tfoot", null, h("tr", null, h("th", { scope: "row", class: "name" }, "All"), cells(report.total, true)))));
  requestAnimationFrame(() => { hint.hidden = scroller.scrollWidth <= scroller.clientWidth; });
  return [hint, scroller];
}
