// #/report

import { get, href } from "../client.js";
import { find, h } from "../dom.js";
import { number, plusDays } from "../format.js";
import { costsNotice } from "./costs.js";
import { filterForm, filtersOf, orRefused } from "./filters.js";
import { costOf, edgeTable, reportTable } from "./report_table.js";

const LIMIT = 200;
const GROUPS = [
  ["strategy", "Strategy"],
  ["setup", "Setup"],
  ["confirmation", "Confirmation"],
  ["tag", "Tag"],
  ["mistake", "Mistake"],
  ["symbol", "Symbol"],
  ["root", "Contract root"],
  ["direction", "Side"],
  ["grade", "Grade"],
  ["weekday", "Weekday"],
  ["hour", "Hour"],
  ["holding", "Holding time"],
  ["account", "Account"],
  ["month", "Month"],
];
const FILTERS = {
  strategy: (key) => ({ strategy_id: key }),
  setup: (key) => ({ setup_id: key }),
  tag: (key) => ({ tag_id: key }),
  mistake: (key) => ({ tag_id: key }),
  symbol: (key) => ({ symbol: key }),
  root: (key) => ({ root: key }),
  direction: (key) => ({ direction: key }),
  grade: (key) => ({ grade: key }),
  account: (key) => ({ account_id: key }),
  month: (key) => ({ from: key, to: plusDays(`${plusDays(key, 31).slice(0, 8)}01`, -1) }),
};

/** @param {Context} context */
export async function view(context) {
  const { query, go } = context;
  const by = GROUPS.some(([key]) => key === query.get("by")) ? query.get("by") : "strategy";
  const isMistake = by === "mistake";
  const sort = query.get("sort") ?? (isMistake ? "net_pnl" : undefined);
  const { outcome, ...filters } = filtersOf(context);
  const group_by = isMistake ? "tag" : by;
  const [
    {
      data: { report },
      meta,
      refused,
    },
    strategies,
    tags,
  ] = await Promise.all([
    orRefused(
      get("/reports", {
        ...filters,
        group_by,
        sort: by === "confirmation" ? undefined : sort,
        limit: LIMIT,
      }),
      {},
    ),
    get("/strategies"),
    get("/tags"),
  ]);
  requestAnimationFrame(() =>
    find(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }),
  );
  const own = Object.fromEntries([...query].filter(([name]) => name !== "by" && name !== "sort"));
  return [
    h("h1.unseen", "What pays"),
    h(
      "nav.tabs",
      { "aria-label": "Group by" },
      GROUPS.map(([key, title]) =>
        h(
          "a",
          {
            href: href("report", { ...own, by: key }),
            id: `by-${key}`,
            "aria-current": key === by && "true",
          },
          title,
        ),
      ),
    ),
    filterForm(
      context,
      {
        strategies: strategies.data.strategies,
        tags: tags.data.tags,
        symbols: by === "symbol" && !refused ? report.groups.map(({ key }) => key) : [],
      },
      { by, sort: query.get("sort") ?? "" },
    ),
    !refused && (await costsNotice(context, filters)),
    refused ??
      (report.total.values.trade_count === 0
        ? nothing(own)
        : groupsOf(report, { by, sort, own, go, tags: tags.data.tags, total: meta.pagination.total })),
  ];
}

function groupsOf(report, { by, sort, own, go, tags, total }) {
  const isMistake = by === "mistake";
  const mistakes = new Set(tags.filter(({ type }) => type === "mistake").map(({ id }) => id));
  const groups = isMistake ? report.groups.filter(({ key }) => mistakes.has(key)) : report.groups;
  const trades = (filter) => href("trades", { ...own, ...filter });
  const link = (key) => key != null && FILTERS[by] && trades(FILTERS[by](key));
  const sortBy = (key) => go("report", { ...own, by, sort: key });
  return h(
    "section.card",
    isMistake && h("p", costOf(groups, report.total, mistakes.size)),
    groups.length > 0 &&
      (by === "confirmation"
        ? edgeTable({ groups, trades, sort, sortBy })
        : reportTable({ title: GROUPS.find(([key]) => key === by)[1], sort, groups, report, link, sortBy })),
    total > LIMIT && h("p.muted", `The first ${LIMIT} of ${number(total)} groups.`),
    h("p.muted", note(by, report)),
  );
}

const nothing = (own) =>
  h(
    "section.card.empty",
    h(
      "p",
      Object.keys(own).length
        ? "No closed trade matches these filters."
        : "Closed trades are compared here once the journal has some.",
    ),
    h(".row", h("a", { href: "#/import" }, "Import a file"), h("a", { href: "#/trades" }, "Trades")),
  );

const note = (by, { timezone }) =>
  [
    "A decision is a trade with its copies; only closed trades count.",
    by === "tag" || by === "mistake"
      ? " A decision with two tags is in both rows, so rows do not add up to the total."
      : "",
    by === "hour" ? ` The hour is that of opening, in ${timezone}.` : "",
  ].join("");
