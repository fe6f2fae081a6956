// Saves what is written about a thing: one write after the other.

import { get, send } from "../client.js";
import { draftOf, keepDraft, showConflict } from "../dialogs.js";
import { find, findAll, h, wordsOf } from "../dom.js";
import { NONE } from "../format.js";

const PAUSE = 800; // milliseconds after a key, until the text is saved
const AGAIN = 3000; // milliseconds until a text is sent again that the journal did not take

// By path: a panel that is drawn anew goes on with the writes of the last.
const states = new Map();

// Of the kind of thing: its `member` in a response; `labels` of what is written; the `parts` with a path of their own;
// `words` for values.
export function saver({ redraw }, path, opened, kind) {
  const { member, parts = {} } = kind;
  const thingOf = ({ data }) => data[member];
  const age = (read) => thingOf(read).updated_at ?? "";
  const open = states.get(path) ?? { newest: opened, queue: Promise.resolve() };
  if (age(opened) >= age(open.newest)) open.newest = opened;
  states.set(path, open);
  const say = (textContent, className = "muted") =>
    Object.assign(find("#saved") ?? {}, { textContent, className });
  const write = async (change, withRedraw) => {
    const part = parts[Object.keys(change)[0]];
    open.newest = await send(part ? "PUT" : "PATCH", part ? `${path}/${part}` : path, {
      body: change,
      etag: open.newest.etag,
    });
    textsSaved(path, change, thingOf(open.newest));
    if (withRedraw) await redraw();
    const unsaved = find(`form[data-path="${path}"][data-changed]`);
    say(unsaved ? `Saved, but not the ${unsaved.dataset.text}.` : "Saved.");
  };
  const conflict = (change, before) => {
    textsUnsaved(path, change, `The ${member} was changed in the meantime.`);
    if (formOf(path, Object.keys(change)[0])?.isTyping) return;
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
        textsUnsaved(path, change, wordsOf(error), error.status === 0 || error.status >= 500);
        if (withRedraw) await redraw(); // shows what is stored
        say(wordsOf(error), "error");
      }
    });
    return open.queue;
  };
  return { save, latest: () => open.newest };
}

// After a read by which nothing is new but pictures, which are written beside: else the next write would be refused.
const restOf = ({ data }) => JSON.stringify({ ...Object.values(data)[0], pictures: 0, updated_at: 0 });
export function renew(path, read) {
  const open = states.get(path);
  if (open && restOf(open.newest) === restOf(read)) open.newest = read;
  return Object.values(read.data)[0].pictures;
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

const formOf = (path, name) => find(`form[data-path="${path}"][data-text="${name}"]`);

// A text is saved when its field is left, and while it is typed. The press that leaves the field must not lose its button:
// this does not redraw. A template is stored once it is typed into.
export function textForm(path, name, label, value, save, { draft, rows = 4, template = "" }) {
  const shown = formOf(path, name);
  const unsaved = shown?.matches("[data-changed]")
    ? { text: find("textarea", shown).value, base: shown.base, reason: find(".error", shown).textContent }
    : lostText(path, name, value ?? "");
  const isTemplate = !unsaved && !value && Boolean(template);
  let timer;
  const keep = (isTyping = false) => {
    clearTimeout(timer);
    if (!find(".error", form).textContent) sayOf(form, "Saving…");
    form.isTyping = isTyping;
    form.saving = save(() => ({ [name]: text.value || null }), false);
  };
  const typed = () => {
    text.classList.remove("muted");
    text.dataset.changed = ""; // nothing is drawn over it until it is left
    keepDraft(path, name, { text: text.value, base: form.base, place: location.hash, label });
    sayOf(form, "");
    clearTimeout(timer);
    timer = setTimeout(() => formOf(path, name)?.keep(true), PAUSE);
  };
  const again = (event) => {
    event.preventDefault();
    keep();
  };
  const discard = () => {
    text.value = form.base = value ?? "";
    keepDraft(path, name);
    mark(form, "");
  };
  const text = h(`textarea#${name}`, {
    rows,
    class: isTemplate ? "muted" : "",
    value: unsaved?.text ?? (value || template),
    oninput: typed,
    onchange: () => form.matches("[data-changed]") && keep(),
  });
  /** @type {any} */
  const form = h(
    "form.text",
    { "data-path": path, "data-text": name, "data-draft": draft, onsubmit: again },
    h("label.field", h("span", label), text),
    isTemplate && h("small", "Your template. It is stored once you type into it."),
    h("p.muted.small.state"),
    h("small.error", { role: "alert" }),
    h(".row", h("button", `Save the ${name}`), h("button", { onclick: discard }, "Discard")),
  );
  const saving = shown?.saving ?? Promise.resolve();
  Object.assign(form, { base: unsaved?.base ?? value ?? "", saving, keep });
  mark(form, unsaved?.reason ?? "", Boolean(unsaved));
  if (unsaved) form.toggleAttribute("data-again", shown?.matches("[data-again]"));
  return form;
}

function lostText(path, name, value) {
  const draft = draftOf(path, name);
  if (draft && draft.text !== value) return { ...draft, reason: "Not saved. You typed this before." };
  if (draft) keepDraft(path, name);
}

// `isGivenUp`: the owner has taken what is stored. Else what was typed since stays unsaved.
function textsSaved(path, change, stored, isGivenUp = false) {
  for (const [name, value] of Object.entries(change)) {
    if (isGivenUp || (draftOf(path, name)?.text || null) === value) keepDraft(path, name);
    const form = formOf(path, name);
    if (!form) continue;
    form.base = stored[name] ?? "";
    if (!isGivenUp && (find("textarea", form).value || null) !== value) continue;
    mark(form, "");
    sayOf(form, "Saved");
  }
}

function textsUnsaved(path, change, reason, isAgain = false) {
  for (const name of Object.keys(change)) {
    const form = formOf(path, name);
    if (!form) continue;
    mark(form, `Not saved${isAgain ? ", trying again" : ""}. ${reason}`);
    form.toggleAttribute("data-again", isAgain);
  }
}

const sayOf = (form, text) => {
  find(".state", form).textContent = text;
};

function mark(form, reason, isChanged = Boolean(reason)) {
  form.toggleAttribute("data-changed", isChanged);
  form.removeAttribute("data-again");
  sayOf(form, "");
  find(".error", form).textContent = reason;
  find(".row", form).hidden = !isChanged;
}

setInterval(() => findAll("form.text[data-again]").forEach((form) => form.keep(true)), AGAIN);
