// What a new owner is asked and offered: trading days, a first file, the example journal.

import { send } from "../client.js";
import { confirm, h, trying } from "../dom.js";

const ASKED = "journal-days-asked"; // that the owner keeps the days as they are
const FUTURES = { timezone: "America/New_York", day_rollover: "17:00" };
export const here = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

// Asked until the owner has answered, because limits over wrong days are worse than none.
export function daysQuestion({ me, redraw }) {
  if (me.timezone !== "UTC" || me.day_rollover !== "00:00" || localStorage.getItem(ASKED)) return null;
  const answer = (days) => trying(async () => {
    localStorage.setItem(ASKED, "yes");
    if (days) await send("PATCH", "/me", { body: days });
    await redraw();
  });
  return h("section", { class: "card notice", "aria-label": "Trading days" },
    h("h2", null, "When does your trading day begin?"),
    h("p", null, `A daily loss limit counts the trades of a trading day. It begins at ${me.day_rollover} in ${me.timezone}; futures days begin at 17:00 in New York, on the evening before.`),
    h("div", { class: "row" },
      h("button", { class: "primary", onclick: answer(FUTURES) }, "17:00 in New York"),
      here() !== me.timezone && h("button", { onclick: answer({ timezone: here(), day_rollover: "00:00" }) }, `00:00 in ${here()}`),
      h("button", { onclick: answer() }, `Keep ${me.day_rollover} in ${me.timezone}`),
      h("a", { href: "#/settings" }, "Another time")));
}

export function emptyJournal({ redraw }) {
  return h("section", { class: "card empty" },
    h("h2", null, "This journal is empty"),
    h("p", null, "Import a file of your broker or platform, or look around in an example of some 200 trades."),
    h("div", { class: "row" },
      h("a", { class: "button primary", href: "#/import" }, "Import a file"),
      h("button", { id: "load-example", onclick: trying(async () => { await send("POST", "/example-journal"); await redraw(); }) }, "Load the example journal")),
    h("p", null, "The example can be removed again, and takes nothing of yours with it."));
}

export function exampleNotice({ redraw }, example) {
  if (!example.is_loaded) return null;
  const remove = () => confirm("Remove the example journal?", `Its account, ${example.trade_count} trades, goals, tags and strategies are deleted. Nothing of yours is.`, "Remove it",
    async () => { await send("DELETE", "/example-journal"); await redraw(); });
  return h("section", { class: "card notice title", "aria-label": "Example journal" },
    h("p", null, "This is the example journal: made-up trades, to look around."),
    h("button", { id: "remove-example", onclick: remove }, "Remove it"));
}
