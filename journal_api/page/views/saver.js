// Saves what is written about a thing: one write after the other.

import { get, send } from "../client.js";
import { showConflict } from "../dialogs.js";
import { find, findAll, h, wordsOf } from "../dom.js";
import { NONE } from "../format.js";

// By path: a panel that is drawn anew goes on with the writes of the last.
const states = new Map();

// Of the kind of thing: its `member` in a response; `labels` of what is written; the `parts` with a path of their own;
// `words` for values; `place` says what was saved.
export function saver({ redraw }, path, opened, kind) {
  const { member, parts = {}, place = "#saved" } = kind;
  const thingOf = ({ data }) => data[member];
  const age = (read) => thingOf(read).updated_at ?? "";
  const open = states.get(path) ?? { newest: opened, queue: Promise.resolve() };
  if (age(opened) >= age(open.newest)) open.newest = opened;
  states.set(path, open);
  const say = (text, className = "muted") =>
    Object.assign(find(place) ?? {}, { textContent: text, className });
  const write = async (change, withRedraw) => {
    const part = parts[Object.keys(change)[0]];
    open.newest = await send(part ? "PUT" : "PATCH", part ? `${path}/${part}` : path, {
      body: change,
      etag: open.newest.etag,
    });
    textsSaved(path, change, thingOf(open.newest));
    if (withRedraw) await redraw();
    const unsaved = formsOf(path).find((form) => form.matches("[data-changed]"));
    say(unsaved ? `Saved, but not the ${unsaved.dataset.text}.` : "Saved.");
  };
  const conflict = (change, before) => {
    textsUnsaved(path, change, `The ${member} was changed in the meantime.`);
    showConflict(member, versions(change, before, thingOf(open.newest), kind), {
      keepMine: () => attempt(change, true),
      takeStored: () => {
        textsSaved(path, change, thingOf(open.newest), true);
        return redraw();
      },
    });
  };
  const attempt = async (change, withRedraw) => {
    try {
      await write(change, withRedraw);
    } catch (error) {
      if (error.status !== 412) throw error;
      const before = thingOf(open.newest);
      open.newest = await get(path);
      const now = thingOf(open.newest);
      const isSame = (name) => JSON.stringify(before[name]) === JSON.stringify(now[name]);
      if (Object.keys(change).every(isSame)) return attempt(change, withRedraw);
      conflict(change, before);
    }
  };
  const save = (changeOf, withRedraw = true) => {
    open.queue = open.queue.then(async () => {
      const now = thingOf(open.newest);
      const change = changeOf(now);
      // The view may have been drawn again around what is being typed.
      const isOld = (name) => formOf(path, name) && formOf(path, name).base !== (now[name] ?? "");
      if (Object.keys(change).some(isOld)) return conflict(change, now);
      try {
        await attempt(change, withRedraw);
      } catch (error) {
        textsUnsaved(path, change, wordsOf(error));
        if (withRedraw) await redraw(); // shows what is stored
        say(wordsOf(error), "error");
      }
    });
    return open.queue;
  };
  return { save, latest: () => open.newest };
}

function versions(change, before, stored, { labels, words = {} }) {
  const text = (name, value) => (value == null ? null : (words[name]?.(value) ?? String(value))) || NONE;
  return Object.entries(labels).map(([name, label]) => [
    label,
    text(name, (name in change ? change : before)[name]),
    text(name, stored[name]),
    name in change,
  ]);
}

const formsOf = (path) => findAll(`form[data-path="${path}"]`);
const formOf = (path, name) => find(`form[data-path="${path}"][data-text="${name}"]`);

// The press that leaves the field must not lose its button: this does not redraw. A template is stored once it is typed
// into.
export function textForm(path, name, label, value, save, { draft, rows = 4, template = "" }) {
  const old = formOf(path, name)?.matches("[data-changed]") && formOf(path, name);
  const isTemplate = !old && !value && Boolean(template);
  const keep = () => {
    form.saving = save(() => ({ [name]: text.value || null }), false);
  };
  const again = (event) => {
    event.preventDefault();
    keep();
  };
  const text = h(`textarea#${name}`, {
    rows,
    class: isTemplate ? "muted" : "",
    value: old ? find("textarea", old).value : value || template,
    oninput: () => text.classList.remove("muted"),
    onchange: keep,
  });
  /** @type {any} */
  const form = h(
    "form.text",
    {
      "data-path": path,
      "data-text": name,
      "data-draft": draft,
      "data-changed": Boolean(old),
      onsubmit: again,
    },
    h("label.field", h("span", label), text),
    isTemplate && h("small", "Your template. It is stored once you type into it."),
    h("small.error", { role: "alert" }, old && find(".error", old).textContent),
    h("button", { hidden: !old }, `Save the ${name}`),
  );
  // The stored text that is being changed.
  Object.assign(form, { base: old ? old.base : (value ?? ""), saving: old ? old.saving : Promise.resolve() });
  return form;
}

// `isGivenUp`: the owner has taken what is stored. Else what was typed since stays unsaved.
function textsSaved(path, change, stored, isGivenUp = false) {
  for (const [name, value] of Object.entries(change)) {
    const form = formOf(path, name);
    if (!form) continue;
    form.base = stored[name] ?? "";
    if (isGivenUp || (find("textarea", form).value || null) === value) mark(form, "");
  }
}

function textsUnsaved(path, change, reason) {
  for (const name of Object.keys(change)) {
    const form = formOf(path, name);
    if (form) mark(form, `Not saved. ${reason}`);
  }
}

function mark(form, reason) {
  form.toggleAttribute("data-changed", Boolean(reason));
  find(".error", form).textContent = reason;
  find("button", form).hidden = !reason;
}
