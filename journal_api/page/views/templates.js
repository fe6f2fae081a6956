// What an empty plan and review begin with; and saving one's own settings.

import { get, send } from "../client.js";
import { showConflict } from "../dialogs.js";
import { card, field, find, form, h } from "../dom.js";
import { differences } from "./editing.js";

// Writes what was changed, and asks only if the same was changed meanwhile.
export function saveMe(typed, { me, meEtag, redraw }) {
  const changed = Object.entries(typed).filter(([name, value]) => String(value) !== String(me[name]));
  return save(Object.fromEntries(changed), me, meEtag, redraw);
}

async function save(changed, before, etag, redraw) {
  try {
    if (Object.keys(changed).length) await send("PATCH", "/me", { body: changed, etag });
  } catch (error) {
    if (error.status !== 412) throw error;
    const {
      data: { me: now },
      etag: newer,
    } = await get("/me");
    const again = () => save(changed, now, newer, redraw);
    if (Object.keys(changed).every((name) => String(now[name]) === String(before[name]))) return again();
    return showConflict("setting", differences(changed, now), { keepMine: again, takeStored: redraw });
  }
  for (const name of Object.keys(changed))
    find(`form [name=${name}]`)?.closest("form").removeAttribute("data-changed");
  await redraw();
}

const NAMES = { plan_template: "Plan", review_template: "Review" };

/** @param {Context} context */
export const templates = (context) =>
  card(
    "Templates",
    h("p.muted", "An empty plan or review begins with this. It is stored on a day once you type into it."),
    form(
      { id: "templates", "data-draft": "The templates are not saved." },
      (values) =>
        saveMe(
          Object.fromEntries(
            Object.keys(NAMES).map((name) => [name, values[name].trim() ? values[name] : null]),
          ),
          context,
        ),
      Object.entries(NAMES).map(([name, label]) =>
        field(label, h("textarea", { name, rows: 4, value: context.me[name] ?? "" })),
      ),
      h("button.primary", "Save"),
    ),
  );
