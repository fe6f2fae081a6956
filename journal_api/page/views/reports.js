// #/report

import { get, href } from "../client.js";
import { card, find, h, select } from "../dom.js";
import { GROUPINGS } from "../enums.js";
import { count, number, plusDays, signed, whyNone } from "../format.js";
import { costsNotice } from "./costs.js";
import { edgeTable, isEdgeSort } from "./edges.js";
import { filterForm, filtersOf, orRefused } from "./filters.js";
import { reportTable } from "./report_table.js";

const LIMIT = 200;
const MISTAKE = ["mistake", "Mistake", "tag_id"]; // a tag of the type mistake
const GROUPS = GROUPINGS.flatMap((one) => (one[0] === "tag" ? [one, MISTAKE] : [one]));
const METRICS = "expectancy,net_pnl,trade_count,win_rate,rr_realized_avg,profit_factor"; // the columns
const WITH_RISK = ["rules", "after", "nth", "pause"]; // whether one trades larger after a loss
// The filters of groups whose key is no value of a filter.
const FILTERS = {
  confirmation: ({ strategy_id, setup_id }) => ({ strategy_id, setup_id }),
  month: (key) => ({ from: key, to: plusDays(`${plusDays(key, 31).slice(0, 8)}01`, -1) }),
};
const filterOf = (/** @type {any[]} */ [by, , name], key) => FILTERS[by]?.(key) ?? (name && { [name]: key });

/** @param {Context} context */
export async function view(context) {
  const { query, go } = context;
  const by = GROUPS.some(([key]) => key === query.get("by")) ? query.get("by") : "strategy";
  const sort = query.get("sort") ?? (by === "mistake" ? "net_pnl" : undefined);
  const { outcome, copies, source_trade_id, ...filters } = filtersOf(context);
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
        group_by: by === "mistake" ? "tag" : by,
        metrics: METRICS + (WITH_RISK.includes(by) ? ",average_risk" : ""),
        sort: by === "confirmation" || isEdgeSort(sort) ? undefined : sort,
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
    tabs(by, own, go),
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

// As a list where a row of so many has no room.
function tabs(by, own, go) {
  const link = ([key, title]) =>
    h(
      "a",
      { href: href("report", { ...own, by: key }), id: `by-${key}`, "aria-current": key === by && "true" },
      title,
    );
  const choose = ({ target }) => go("report", { ...own, by: target.value });
  return [
    h("nav.tabs", { "aria-label": "Group by" }, GROUPS.map(link)),
    h(
      "label.field.tab-list",
      h("span", "Group by"),
      select({ name: "by", value: by, onchange: choose }, GROUPS),
    ),
  ];
}

function groupsOf(report, { by, sort, own, go, tags, total }) {
  const mistakes = new Set(tags.filter(({ type }) => type === "mistake").map(({ id }) => id));
  const groups = by === "mistake" ? report.groups.filter(({ key }) => mistakes.has(key)) : report.groups;
  const grouping = GROUPS.find(([key]) => key === by);
  const title = grouping[1];
  const link = (key) => {
    const filter = key != null && filterOf(grouping, key);
    return filter && href("trades", { ...own, ...filter });
  };
  const sortBy = (key) => go("report", { ...own, by, sort: key });
  const shown = { title, sort, groups, report, link, sortBy };
  const edges = edgeTable(shown);
  const without = by === "confirmation" && groups.find(({ key }) => !key);
  return [
    edges &&
      card(
        RULES[by] ?? `With each ${title.toLowerCase()} and without it`,
        by === "mistake" && h("p", costOf(groups, report.total)),
        edges,
      ),
    h(
      "section.card",
      by === "mistake" &&
        !groups.length &&
        h("p", mistakes.size ? "No trade here has a tag of the type mistake." : NO_MISTAKES),
      by === "confirmation"
        ? !edges && h("p.muted", "No trade here belongs to a setup with confirmations.")
        : groups.length > 0 && reportTable(shown),
      without &&
        h(
          "p.muted",
          `Not compared: ${count(without.unanswered.values.trade_count, "trade")} whose setup has no checklist.`,
        ),
      total > LIMIT && h("p.muted", `The first ${LIMIT} of ${number(total)} groups.`),
      h("p.muted", note(by, report)),
      h("p.muted", NOT_KNOWN),
    ),
  ];
}

// docs/statistics.md#what-no-number-here-can-know
const NOT_KNOWN =
  "No number here knows how often you look (look every 20 trades, and 35 of 100 journals in which nothing pays " +
  "show something at some time), what you answered after the result, or that whole weeks differ.";
const RULES = { rules: "Rules followed beside rules broken" };
const NO_MISTAKES =
  "No tag is of the type mistake. Make one under Settings, tag trades with it, and its cost stands here.";

function costOf(groups, total) {
  if (groups.some(({ values }) => values.net_pnl == null)) return whyNone("mixed_currencies");
  const [worst] = [...groups].sort((one, other) => one.values.net_pnl - other.values.net_pnl);
  if (!(worst.values.net_pnl < 0)) return "No mistake cost money here.";
  const { net_pnl: net, trade_count: times } = worst.values;
  return [
    `The dearest mistake is ${worst.name}: `,
    h("strong.loss", signed(net)),
    ` in ${count(times, "trade")}. `,
    `Over all ${count(total.values.trade_count, "trade")} the expectancy is ${signed(total.values.expectancy)}.`,
  ];
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
    "A trade and its copies count once; only closed trades count.",
    by === "tag" || by === "mistake"
      ? " A trade with two tags is in both rows, so rows do not add up to the total."
      : "",
    by === "hour" ? ` The hour is that of opening, in ${timezone}.` : "",
  ].join("");
