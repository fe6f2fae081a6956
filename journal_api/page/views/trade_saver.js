// Saves the judgement of a trade: one write after the other.

import { get, send } from "../client.js";
import { showConflict } from "../dialogs.js";
import { find, h, wordsOf } from "../dom.js";
import { NONE } from "../format.js";

function say(text, kind = "muted") {
  const place = find("#saved");
  if (place) Object.assign(place, { textContent: text, className: kind });
}
const PATHS = { tag_ids: "tags", confirmations: "confirmations" };
const LABELS = {
  grade: "Grade",
  notes: "Notes",
  strategy_id: "Strategy",
  setup_id: "Setup",
  tag_ids: "Tags",
  confirmations: "Checklist",
};

// A panel that is drawn anew goes on with the writes of the last.
let state = { path: "", newest: null, queue: Promise.resolve() };

export function saver({ redraw }, opened, lists) {
  const path = `/trades/${opened.data.trade.id}`;
  if (state.path !== path) state = { path, newest: opened, queue: Promise.resolve() };
  else if (opened.data.trade.updated_at >= state.newest.data.trade.updated_at) state.newest = opened;
  const open = state;
  const write = async (change, withRedraw) => {
    const part = PATHS[Object.keys(change)[0]];
    open.newest = await send(part ? "PUT" : "PATCH", part ? `${path}/${part}` : path, {
      body: change,
      etag: open.newest.etag,
    });
    if ("notes" in change) notesSaved(opened.data.trade, change.notes);
    if (withRedraw) await redraw();
    say(unsavedNotes() ? "Saved, but not the notes." : "Saved.");
  };
  const attempt = async (change, withRedraw) => {
    try {
      await write(change, withRedraw);
    } catch (error) {
      if (error.status !== 412) throw error;
      if ("notes" in change) notesUnsaved(opened.data.trade, "The trade was changed in the meantime.");
      const before = open.newest.data.trade;
      open.newest = await get(path);
      showConflict("trade", versions(change, before, open.newest.data.trade, lists), {
        keepMine: () => attempt(change, true),
        takeStored: () => takeStored(change),
      });
    }
  };
  const takeStored = (change) => {
    if ("notes" in change) notesSaved(opened.data.trade);
    return redraw();
  };
  const save = (changeOf, withRedraw = true) => {
    open.queue = open.queue.then(async () => {
      const change = changeOf(open.newest.data.trade);
      try {
        await attempt(change, withRedraw);
      } catch (error) {
        if ("notes" in change) notesUnsaved(opened.data.trade, wordsOf(error));
        if (withRedraw) await redraw(); // shows what is stored
        say(wordsOf(error), "error");
      }
    });
    return open.queue;
  };
  return { save, latest: () => open.newest };
}

function versions(change, before, stored, { strategies, strategy, tags }) {
  const nameIn = (list, id) => list?.find((one) => (one.setup_id ?? one.id) === id)?.name;
  const words = {
    strategy_id: (id) => nameIn(strategies, id),
    setup_id: (id) => nameIn(strategy?.setups, id),
    tag_ids: (ids) =>
      ids
        .map((id) => nameIn(tags, id))
        .sort()
        .join(", "),
    confirmations: (answers) =>
      answers
        .map(
          ({ confirmation_id: id, was_present }) =>
            `${was_present ? "✓" : "✗"} ${strategy?.setups.flatMap((one) => one.confirmations).find((one) => one.confirmation_id === id)?.name}`,
        )
        .join(", "),
  };
  const text = (name, value) => (words[name]?.(value) ?? value) || NONE;
  return Object.entries(LABELS).map(([name, label]) => [
    label,
    text(name, (name in change ? change : before)[name]),
    text(name, stored[name]),
    name in change,
  ]);
}

const formOf = ({ id }) => find(`#notes-of-${id}`);

const unsavedNotes = () => find("#trade form[data-changed]");

// The press that leaves the field must not lose its button: this does not redraw.
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
    value: old ? find("textarea", old).value : (trade.notes ?? ""),
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
    h("small.error", { role: "alert" }, old && find(".error", old).textContent),
    h("button", { hidden: !old }, "Save the notes"),
  );
  form.saving = old ? old.saving : Promise.resolve();
  return form;
}

// Without `notes`, the owner has given up the text.
function notesSaved(trade, notes) {
  const form = formOf(trade);
  if (!form || (notes !== undefined && (find("textarea", form).value || null) !== notes)) return;
  mark(form, "");
}

function notesUnsaved(trade, reason) {
  const form = formOf(trade);
  if (form) mark(form, `Not saved. ${reason}`);
}

function mark(form, reason) {
  form.toggleAttribute("data-changed", Boolean(reason));
  find(".error", form).textContent = reason;
  find("button", form).hidden = !reason;
}
