// @ts-check
// What a new owner is asked and offered: trading days, a first file, the example journal.

import { get, send } from "../client.js";
import { confirm, form, h, trying } from "../dom.js";
import { cityOf, findZone, here, isUtc, isZone, zoneField } from "../zones.js";

const ANSWERED = "journal-days-answered"; // the journal whose owner keeps the days as they are
const FUTURES = { timezone: "America/New_York", day_rollover: "17:00" };
const journalOf = ({ id, created_at: since }) => `${id} ${since}`;

// Asked of a new journal until its owner has answered, because limits over wrong days are worse than none. What was
// ever changed in the settings was answered; the first trade ends the question, unless the days are nobody's choice.
async function isUnanswered({ me }) {
  if (localStorage.getItem(ANSWERED) === journalOf(me)) return false;
  if (isUtc(me.timezone) && me.day_rollover === "00:00") return true;
  if (me.updated_at !== me.created_at) return false;
  const [{ meta }, { data }] = await Promise.all([get("/trades", { limit: 1 }), get("/example-journal")]);
  return meta.pagination.total === data.example_journal.trade_count;
}

// `then` gets the owner with the days that were chosen.
export async function daysQuestion(context, then = context.redraw) {
  if (!(await isUnanswered(context))) return null;
  const { me } = context;
  const choice = (value, ...text) =>
    h(
      "label",
      { class: "check" },
      h("input", { type: "radio", name: "days", value, checked: value === "futures" }),
      h("span", null, text),
    );
  const zone = zoneField("Your time zone", {
    name: "timezone",
    value: isUtc(me.timezone) ? here() : me.timezone,
  });
  const meaning = h("p", { class: "strong", "aria-live": "polite" });
  const daysOf = (/** @type {any} */ { days, timezone }) =>
    days === "futures" ? FUTURES : { timezone, day_rollover: "00:00" };
  const element = form(
    { id: "first-days" },
    async (values) => {
      const { data } = await send("PATCH", "/me", { body: daysOf(values) });
      localStorage.setItem(ANSWERED, journalOf(me)); // days that stay as they are change nothing in the journal
      await then(data.me);
    },
    choice("futures", "Futures days, from 17:00 in New York on the evening before"),
    choice("calendar", "Calendar days, from midnight where you are"),
    zone,
    meaning,
    h("button", { class: "primary" }, "Count days like this"),
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
    "section",
    { class: "card notice", "aria-label": "Trading days" },
    h("h2", null, "When does your trading day begin?"),
    h(
      "p",
      null,
      "Daily limits, the calendar and all periods count by trading days. ",
      h("a", { href: "#/settings", onclick: ({ target }) => target.closest("dialog")?.close() }, "Settings"),
      " has every other time, and changes it later.",
    ),
    element,
  );
}

export function emptyJournal({ redraw }) {
  return h(
    "section",
    { class: "card empty" },
    h("h2", null, "This journal is empty"),
    h(
      "p",
      null,
      "Import a file of your broker or platform, or look around in an example of some 120 trades.",
    ),
    h(
      "div",
      { class: "row" },
      h("a", { class: "button primary", href: "#/import" }, "Import a file"),
      h(
        "button",
        {
          id: "load-example",
          onclick: trying(async () => {
            await send("POST", "/example-journal");
            await redraw();
          }),
        },
        "Load the example journal",
      ),
    ),
    h("p", null, "The example can be removed again, and takes nothing of yours with it."),
  );
}

export function exampleNotice({ redraw }, example) {
  if (!example.is_loaded) return null;
  const remove = () =>
    confirm(
      "Remove the example journal?",
      `Its account, ${example.trade_count} trades, goals, tags and strategies are deleted. Nothing of yours is.`,
      "Remove it",
      async () => {
        await send("DELETE", "/example-journal");
        await redraw();
      },
    );
  return h(
    "section",
    { class: "card notice title", "aria-label": "Example journal" },
    h("p", null, "This is the example journal: made-up trades, to look around."),
    h("button", { id: "remove-example", onclick: remove }, "Remove it"),
  );
}
