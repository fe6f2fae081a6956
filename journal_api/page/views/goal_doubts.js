// A goal that the API doubts is asked about before it is saved.

import { refused, send } from "../client.js";
import { h, open } from "../dom.js";
import { number, sentences } from "../format.js";

// The body of the request as it is meant: as typed, or with the other direction or sign. Refuses what is not meant.
export async function settleGoal(method, path, body) {
  const warningsAbout = async (tried) =>
    (await send(method, path, { body: tried, query: { dry_run: true } })).meta.warnings ?? [];
  const warnings = await warningsAbout(body);
  if (!warnings.length) return body;
  const chosen = await ask(warnings, body, await likelier(body, warningsAbout));
  if (!chosen) throw refused({ target_value: sentences(warnings) });
  return chosen;
}

// The first change that leaves no doubt; what the API refuses is none.
async function likelier(body, warningsAbout) {
  const direction = body.direction === "at_least" ? "at_most" : "at_least";
  const target_value = -body.target_value;
  for (const change of [{ direction }, { target_value }, { direction, target_value }]) {
    const other = { ...body, ...change };
    const isClear = await warningsAbout(other).then(
      (warnings) => !warnings.length,
      () => false,
    );
    if (isClear) return other;
  }
  return null;
}

// What the owner chooses: one of the two bodies, or null to go on typing.
function ask(warnings, body, other) {
  return new Promise((resolve) => {
    const choose = (chosen) => () => {
      resolve(chosen);
      dialog.close();
    };
    const said =
      other &&
      (other.direction === body.direction ? "" : `${other.direction.replace("_", " ")} `) +
        number(other.target_value);
    const dialog = open(
      other ? `Did you mean ${said}?` : "Is this goal meant?",
      h("p", sentences(warnings)),
      h(
        ".row",
        other && h("button.primary", { onclick: choose(other) }, `Save ${said}`),
        h("button", { onclick: choose(null) }, "Change it"),
        h("button", { onclick: choose(body) }, "Save it as it is"),
      ),
    );
    dialog.addEventListener("close", () => resolve(null));
  });
}
