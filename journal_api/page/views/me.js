// #/settings: trading days, goals, accounts, copy groups, tags, keys; signing out.

import { get, send } from "../client.js";
import { field, form, h } from "../dom.js";
import { WEEKDAYS } from "../format.js";
import { zoneField } from "../zones.js";
import { accountKind, accountRows } from "./accounts.js";
import { showConflict } from "./conflict.js";
import { groupKind, groupRows } from "./copy_groups.js";
import { differences, listCard } from "./editing.js";
import { goalKind, goalRows } from "./goal_form.js";
import { keysCard } from "./keys.js";
import { categoryKind, tagKind, tagRows } from "./tags.js";

/** @param {Context} context */
export async function view(context) {
  const [goals, metrics, categories, tags, keys] = (
    await Promise.all([
      get("/goals", { status: "all" }),
      get("/metrics"),
      get("/tag-categories"),
      get("/tags"),
      get("/keys"),
    ])
  ).map(({ data }) => Object.values(data)[0]);
  const { accounts, copyGroups } = context;
  return [
    h(".title", h("h1", "Settings"), h("button#sign-out", { onclick: context.signOut }, "Sign out")),
    h(
      ".split",
      h(
        ".stack",
        tradingDays(context),
        listCard(
          "Goals",
          goalKind(metrics),
          context,
          ["Goal", "Wanted", "Time", "Accounts", "Status"],
          goalRows(goals, metrics, context),
        ),
      ),
      h(
        ".stack",
        listCard(
          "Accounts",
          accountKind,
          context,
          ["Account", "Broker", "Starting balance", ""],
          accountRows(accounts),
        ),
        listCard(
          "Copy groups",
          groupKind,
          context,
          ["Group", "Accounts", "Master", ""],
          groupRows(copyGroups, context),
        ),
        listCard(
          "Tags",
          tagKind(categories),
          context,
          ["Tag", "Category", "Type", ""],
          tagRows(tags, categories),
        ),
        listCard(
          "Tag categories",
          categoryKind,
          context,
          ["Category", "Tags"],
          categories.map((one) => ({ id: one.id, name: one.name, cells: [one.tag_count] })),
        ),
        keysCard(keys, context),
      ),
    ),
  ];
}

// Saves only what the owner has changed; asks only if the same was changed meanwhile.
async function saveDays(changed, before, etag, redraw) {
  try {
    if (Object.keys(changed).length) await send("PATCH", "/me", { body: changed, etag });
  } catch (error) {
    if (error.status !== 412) throw error;
    const {
      data: { me: now },
      etag: newer,
    } = await get("/me");
    const again = () => saveDays(changed, now, newer, redraw);
    if (Object.keys(changed).every((name) => String(now[name]) === String(before[name]))) return again();
    return showConflict("setting", differences(changed, now), { keepMine: again, takeStored: redraw });
  }
  await redraw();
}

/** @param {Context} context */
function tradingDays({ me, meEtag, redraw }) {
  return h(
    "section.card",
    { "aria-label": "Trading days" },
    h("h2", "Trading days"),
    h(
      "p.muted",
      `A trading day begins at ${me.day_rollover} in ${me.timezone}. Daily limits, the calendar and all periods count by it; another time or zone moves every trade to its day.`,
    ),
    form(
      { id: "days" },
      async (values, element) => {
        const weekdays = [...element.querySelectorAll("[name=weekday]:checked")].map((box) =>
          Number(box.value),
        );
        const typed = {
          timezone: values.timezone,
          day_rollover: values.day_rollover,
          trading_weekdays: weekdays,
        };
        const changed = Object.fromEntries(
          Object.entries(typed).filter(([name, value]) => String(value) !== String(me[name])),
        );
        await saveDays(changed, me, meEtag, redraw);
      },
      h(
        ".row",
        zoneField("Time zone", { name: "timezone", value: me.timezone }, "America/New_York for futures"),
        field(
          "Begins at",
          h("input", { type: "time", name: "day_rollover", value: me.day_rollover }),
          "17:00 for futures, 00:00 for calendar days",
        ),
      ),
      h(
        "fieldset.row",
        h("legend", "Days on which you trade"),
        WEEKDAYS.map((name, index) =>
          h(
            "label.check",
            h("input", {
              type: "checkbox",
              name: "weekday",
              value: String(index + 1),
              checked: me.trading_weekdays.includes(index + 1),
            }),
            name,
          ),
        ),
      ),
      h("small.error", { "data-field": "trading_weekdays" }),
      h("button.primary", "Save"),
    ),
  );
}
