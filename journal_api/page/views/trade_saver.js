// Saves the judgement of a trade: one write after the other, each with the ETag of the last.

import { get, send } from "../client.js";
import { wordsOf } from "../dom.js";
import { NONE } from "../format.js";
import { showConflict } from "./conflict.js";
import { notesSaved, notesUnsaved, unsavedNotes } from "./notes.js";

function say(text, kind = "muted") {
  const place = document.getElementById("saved");
  if (place) Object.assign(place, { textContent: text, className: kind });
}

// What the API calls each part of the judgement, and where it is written.
const PATHS = { tag_ids: "tags", confirmations: "confirmations" };
const LABELS = {
  grade: "Grade",
  notes: "Notes",
  strategy_id: "Strategy",
  setup_id: "Setup",
  tag_ids: "Tags",
  confirmations: "Checklist",
};

// The open trade: what was read or written of it last, with its ETag, and its writes. A panel that is drawn anew goes on
// with them, because a press on the panel before it may not be written yet.
let state = { path: "", newest: null, queue: Promise.resolve() };

// save(changeOf) writes the member that changeOf(trade) returns; one write waits for the other.
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

// The rows of a conflict: the change, then whatever else was changed in the meantime.
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
  return Object.keys(LABELS)
    .map((name) => [
      name,
      text(name, change[name] === undefined ? before[name] : change[name]),
      text(name, stored[name]),
    ])
    .filter(([name, mine, theirs]) => name in change || mine !== theirs)
    .map(([name, mine, theirs]) => [
      name in change ? LABELS[name] : `${LABELS[name]} (changed in the meantime; stays)`,
      mine,
      theirs,
    ]);
}
