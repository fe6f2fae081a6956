// What a new owner is asked and offered.

import { get, send } from "../client.js";
import { confirm, trying } from "../dialogs.js";
import { form, h } from "../dom.js";
import { count } from "../format.js";
import { cityOf, findZone, here, isUtc, isZone, zoneField } from "../inputs.js";

const ANSWERED = "journal-days-answered";
const FUTURES = { timezone: "America/New_York", day_rollover: "17:00" };
const journalOf = ({ id, created_at: since }) => `${id} ${since}`;

// Limits over wrong days are worse than none. The first trade ends the question, unless the days are nobody's choice.
async function isUnanswered({ me }, example) {
  if (localStorage.getItem(ANSWERED) === journalOf(me)) return false;
  if (isUtc(me.timezone) && me.day_rollover === "00:00") return true;
  if (me.updated_at !== me.created_at) return false;
  const [{ meta }, { data }] = await Promise.all([
    get("/trades", { limit: 1 }),
    example || get("/example-journal"),
  ]);
  return meta.pagination.total === data.example_journal.trade_count;
}

export async function daysQuestion(context, then = context.redraw, example = null) {
  if (!(await isUnanswered(context, example))) return null;
  const { me } = context;
  const choice = (value, ...text) =>
    h(
      "label.check",
      h("input", { type: "radio", name: "days", value, checked: value === "futures" }),
      h("span", text),
    );
  const zone = zoneField("Your time zone", {
    name: "timezone",
    value: isUtc(me.timezone) ? here() : me.timezone,
  });
  const meaning = h("p.strong", { "aria-live": "polite" });
  const daysOf = (/** @type {any} */ { days, timezone }) =>
    days === "futures" ? FUTURES : { timezone, day_rollover: "00:00" };
  const element = form(
    { id: "first-days" },
    async (values) => {
      const { data } = await send("PATCH", "/me", { body: daysOf(values) });
      localStorage.setItem(ANSWERED, journalOf(me)); // days may stay as they are
      await then(data.me);
    },
    choice("futures", "Futures days, from 17:00 in New York on the evening before"),
    choice("calendar", "Calendar days, from midnight where you are"),
    zone,
    meaning,
    h("button.primary", "Count days like this"),
  );
  const tell = () => {
    const { timezone: typed, day_rollover: time } = daysOf(Object.fromEntries(new FormData(element)));
    const timezone = findZone(typed);
    zone.hidden = time !== "00:00";
    meaning.textContent = isZone(timezone)
      ? `Your loss limit counts trades from ${time} ${cityOf(timezone)}${zone.hidden ? ", and times are shown as New York's" : ""}.`
      : "Name a city of your time zone.";
  };
  element.addEventListener("input", tell);
  element.addEventListener("change", tell);
  tell();
  return h(
    "section.card.notice",
    { "aria-label": "Trading days" },
    h("h2", "When does your trading day begin?"),
    h(
      "p",
      "Daily limits, the calendar and all periods count by trading days. ",
      h("a", { href: "#/settings", onclick: ({ target }) => target.closest("dialog")?.close() }, "Settings"),
      " has every other time, and changes it later.",
    ),
    element,
  );
}

export function emptyJournal({ redraw }) {
  return h(
    "section.card.empty",
    h("h2", "This journal is empty"),
    h("p", "Import a file of your broker or platform, or look around in an example of some 120 trades."),
    h(
      ".row",
      h("a.button.primary", { href: "#/import" }, "Import a file"),
      h(
        "button#load-example",
        {
          onclick: trying(async () => {
            await send("POST", "/example-journal");
            await redraw();
          }),
        },
        "Load the example journal",
      ),
    ),
    h("p", "The example can be removed again, and takes nothing of yours with it."),
  );
}

export function exampleNotice({ redraw }, example) {
  if (!example.is_loaded) return null;
  const remove = () =>
    confirm(
      "Remove the example journal?",
      `Its account, ${count(example.trade_count, "trade")}, goals, tags and strategies are deleted. Nothing of yours is.`,
      "Remove it",
      async () => {
        await send("DELETE", "/example-journal");
        await redraw();
      },
    );
  return h(
    "section.card.notice.title",
    { "aria-label": "Example journal" },
    h("p", "This is the example journal: made-up trades, to look around."),
    h("button#remove-example", { onclick: remove }, "Remove it"),
  );
}
