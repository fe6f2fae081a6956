// #/report

import { get, href } from "../client.js";
import { card, choiceField, find, h } from "../dom.js";
import { GROUPINGS } from "../enums.js";
import { count, number, plusDays, signed, tradingDay, whyNone } from "../format.js";
import { costsNotice } from "./account_form.js";
import { besideCard, edgeTable, isEdgeSort, nameBefore, rangeBefore, withBefore } from "./edges.js";
import { filterForm, filtersOf, orRefused } from "./filters.js";
import { exitsView, joined, pairMap, secondKey, secondOf } from "./maps.js";
import { newestQuery, reportTable, shapeOf } from "./report_table.js";
import { readTags } from "./tags.js";

const LIMIT = 200;
const MAX_PAIRS = 2000;
const OWN = ["by", "and", "in", "sort", "beside", "unit", "stops", "targets"]; // what is no filter
const MISTAKE = ["mistake", "Mistake", "tag_id"]; // a tag of the type mistake
const GROUPS = [
  ...GROUPINGS.flatMap((one) => (one[0] === "tag" ? [one, MISTAKE] : [one])),
  ["exits", "Exits"],
];
// A single category is a group of its own: category-3.
const CATEGORY = "category-";
const isCategory = (key) => key?.startsWith(CATEGORY);
const ofCategory = ({ id, name }) => [CATEGORY + id, name, "tag_id"];
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
  const isKnown = (by) => isCategory(by) || GROUPS.some(([key]) => key === by && by !== "category");
  const by = isKnown(query.get("by")) ? query.get("by") : "strategy";
  const second = secondOf(by, query);
  const sort = query.get("sort") ?? (by === "mistake" ? "net_pnl" : undefined);
  const { outcome, copies, source_trade_id, ...filters } = filtersOf(context);
  const before = query.get("beside") && rangeBefore(filters);
  const key = [by === "mistake" ? "tag" : by, second].filter(Boolean);
  const report = () =>
    orRefused(
      get("/reports", {
        ...filters,
        group_by: key.map((one) => (isCategory(one) ? "category" : one)).join(),
        category_id: key.find(isCategory)?.slice(CATEGORY.length),
        with: "distribution",
        metrics: METRICS + (WITH_RISK.includes(by) ? ",average_risk" : ""),
        sort: by === "confirmation" || isEdgeSort(sort) ? undefined : sort,
        limit: second ? MAX_PAIRS : LIMIT,
        ...(before && { compare_from: before.from, compare_to: before.to }),
      }),
      {},
    );
  const [shown, strategies, tags] = await Promise.all([
    by === "exits" ? exitsView(context, filters) : report(),
    get("/strategies"),
    readTags(),
  ]);
  const total = shown.data?.report?.total;
  const symbols =
    by === "symbol" && !second && total ? shown.data.report.groups.map((group) => group.key) : [];
  requestAnimationFrame(() =>
    find(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }),
  );
  const groups = GROUPS.flatMap((one) => (one[0] === "category" ? tags.singles.map(ofCategory) : [one]));
  const own = Object.fromEntries([...query].filter(([name]) => !OWN.includes(name)));
  const kept = Object.fromEntries([...query].filter(([name]) => OWN.includes(name)));
  return [
    h("h1.unseen", "What pays"),
    tabs(groups, by, second, own, kept, context),
    filterForm(
      context,
      {
        strategies: strategies.data.strategies,
        ...tags,
        symbols,
      },
      { ...kept, by, sort: query.get("sort") ?? "" },
    ),
    !shown.refused && (await costsNotice(context, filters)),
    by === "exits"
      ? shown
      : (shown.refused ??
        (total.values.trade_count === 0
          ? nothing(own)
          : groupsOf(shown.data.report, {
              ...{ by, second, sort, own, kept, go, before, filters },
              ...{ groupsKnown: groups, tags: tags.tags, total: shown.meta.pagination.total },
              shape: await readShape(shown.data.report, filters),
            }))),
  ];
}

const readShape = async ({ distribution }, filters) =>
  shapeOf(distribution, (await get("/trades", newestQuery(filters))).data.trades);

// As a list where a row of so many has no room.
function tabs(groups, by, second, own, kept, { me, go }) {
  const link = ([key, title]) =>
    h(
      "a",
      { href: href("report", { ...own, by: key }), id: `by-${key}`, "aria-current": key === by && "true" },
      title,
    );
  const beside = kept.beside
    ? { ...own, ...kept, beside: "" }
    : withBefore(own, { ...kept, by }, tradingDay(me));
  const chosen = ({ target }) => go("report", { ...own, by, [target.name]: target.value });
  return [
    h("nav.tabs", { "aria-label": "Group by" }, groups.map(link)),
    h(
      ".row",
      { onchange: chosen },
      h(".tab-list", choiceField("Group by", "by", by, groups)),
      by !== "exits" && [
        secondKey(by, second, groups),
        h(
          "a.before-link",
          { href: href("report", beside) },
          kept.beside ? "without what was before" : nameBefore(own),
        ),
      ],
    ),
  ];
}

function groupsOf(report, { groupsKnown, by, second, sort, own, kept, go, before, tags, total, shape }) {
  const mistakes = new Set(tags.filter(({ type }) => type === "mistake").map(({ id }) => id));
  const found = second ? joined(report.groups) : report.groups;
  const groups = by === "mistake" ? found.filter(({ key }) => mistakes.has(key)) : found;
  const groupings = [by, second]
    .filter(Boolean)
    .map((one) => groupsKnown.find(([key]) => key === one) ?? [one, "Category"]);
  const titles = groupings.map(([, title]) => title);
  const title = titles.join(" and ");
  const link = (key) => {
    const keys = second ? key : [key];
    const parts = keys?.map((one, at) => one != null && filterOf(groupings[at], one));
    return parts?.every(Boolean) && href("trades", Object.assign({}, own, ...parts));
  };
  const sortBy = (key) => go("report", { ...own, ...kept, by, sort: key });
  const shown = { title, sort, groups, report, link, sortBy };
  const edges = !(second && by !== "confirmation" && second !== "confirmation") && edgeTable(shown);
  const without = by === "confirmation" && !second && groups.find(({ key }) => !key);
  const inR = kept.in === "r";
  const switchUnit = () => go("report", { ...own, ...kept, in: inR ? "" : "r" });
  const map = second && groups.length > 0 && pairMap({ groups, titles, link, inR, switchUnit });
  return [
    map,
    before && besideCard({ title, report, groups, before }),
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
      by === "confirmation" || second === "confirmation"
        ? !edges && h("p.muted", "No trade here belongs to a setup with confirmations.")
        : groups.length > 0 && reportTable(shown),
      without &&
        h(
          "p.muted",
          `Not compared: ${count(without.unanswered.values.trade_count, "trade")} whose setup has no checklist.`,
        ),
      shape,
      !second && total > LIMIT && h("p.muted", `The first ${LIMIT} of ${number(total)} groups.`),
      h("p.muted", note(by, report)),
      h("p.muted", NOT_KNOWN),
    ),
  ];
}

// docs/statistics.md#what-no-number-here-can-know
const NOT_KNOWN =
  "No number here knows how often you look (every 20 trades, and 35 of 100 journals in which nothing pays show " +
  "something), what you answered after the result, or that whole weeks differ.";
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
