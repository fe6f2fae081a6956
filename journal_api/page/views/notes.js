// The notes of a trade: saved when the field is left; text that is not saved outlives a redraw and is marked.

import { find, h } from "../dom.js";

const formOf = ({ id }) => find(`#notes-of-${id}`);

export const unsavedNotes = () => find("#trade form[data-changed]");

// Leaving the field does not redraw: the press that leaves it must not lose its button.
export function notesForm(trade, save) {
  const old = formOf(trade)?.matches("[data-changed]") && formOf(trade);
  const keep = () => {
    form.saving = save(() => ({ notes: text.value || null }), false);
  };
  const again = (event) => {
    event.preventDefault();
    keep();
  };
  const text = h("textarea#notes", {
    rows: "4",
    value: old ? old.querySelector("textarea").value : (trade.notes ?? ""),
    onchange: keep,
  });
  /** @type {any} */
  const form = h(
    "form",
    {
      id: `notes-of-${trade.id}`,
      "data-draft": "The notes of this trade are not saved.",
      "data-changed": Boolean(old),
      onsubmit: again,
    },
    h("label.field", h("span", "Notes"), text),
    h("small.error", { role: "alert" }, old && old.querySelector(".error").textContent),
    h("button", { hidden: !old }, "Save the notes"),
  );
  form.saving = old ? old.saving : Promise.resolve();
  return form;
}

// `notes` were stored; without them, the owner has given up the text of the field.
export function notesSaved(trade, notes) {
  const form = formOf(trade);
  if (!form || (notes !== undefined && (form.querySelector("textarea").value || null) !== notes)) return;
  delete form.dataset.changed;
  form.querySelector(".error").textContent = "";
  form.querySelector("button").hidden = true;
}

export function notesUnsaved(trade, reason) {
  const form = formOf(trade);
  if (!form) return;
  form.dataset.changed = "";
  form.querySelector(".error").textContent = `Not saved. ${reason}`;
  form.querySelector("button").hidden = false;
}
