// Dialogs, and what is typed and not saved yet.

import { find, findAll, form, h, table, wordsOf } from "./dom.js";

export const trying = (action) => async (event) => {
  const button = event?.currentTarget;
  if (button?.ariaBusy === "true") return;
  if (button) button.ariaBusy = "true"; // were it disabled, it would lose the focus
  try {
    await action(event);
  } catch (error) {
    open("That did not work", h("p.error", wordsOf(error)));
  }
  if (button) button.ariaBusy = null;
};

const FIELDS = "form :is(input, select, textarea)";

// A modal dialog, removed when it closes. Closing it by hand asks first if something was typed. Escape is a key here,
// because a browser lets no page cancel it twice.
export function open(title, ...children) {
  const leave = async (event) => {
    event.preventDefault();
    await saveTexts();
    if (!find("form[data-changed]", dialog)) return dialog.close();
    confirm("Close without saving?", "What you typed is not saved.", "Discard it", () => dialog.close());
  };
  const close = h("button.quiet", { "aria-label": "Close", onclick: leave }, "✕");
  const dialog = h(
    "dialog",
    {
      "aria-label": title,
      onclose: () => dialog.remove(),
      oncancel: leave,
      onkeydown: (event) => event.key === "Escape" && leave(event),
    },
    h(".title", h("h2", title), close),
    ...children,
  );
  document.body.append(dialog);
  dialog.showModal();
  if (!find("[autofocus]", dialog))
    findAll(FIELDS, dialog)
      .find((one) => one.checkVisibility())
      ?.focus();
  return dialog;
}

// `then` gets, after the dialog is closed, what `write` has returned.
export function formDialog(title, attributes, write, then, ...children) {
  const element = form(
    attributes,
    async (values) => {
      const written = await write(values, element);
      dialog.close();
      await then?.(written);
    },
    ...children,
  );
  const dialog = open(title, element);
  return dialog;
}

// `action` runs when the owner agrees. What only adds is no danger.
export function confirm(title, text, verb, action, tone = "danger") {
  const cancel = h("button", { onclick: () => dialog.close() }, "Cancel");
  const row = h(".row", h("button", { class: tone }, verb), cancel);
  const dialog = formDialog(title, {}, action, null, h("p", text), row);
}

// data-draft says what is lost; `saving` is the promise of the last write.
export const DRAFT = "form[data-draft][data-changed]";
export const TYPED = `${DRAFT}, dialog[open] form[data-changed]`;

// The text that is being typed is saved when its field is left.
export async function saveTexts() {
  const drafts = findAll(DRAFT).filter(({ saving }) => saving);
  const { activeElement } = /** @type {any} */ (document);
  if (drafts.some((one) => one.contains(activeElement))) activeElement.blur();
  await Promise.all(drafts.map(({ saving }) => saving));
}

export async function leave(next, stay) {
  if (find(DRAFT)) await saveTexts();
  const unsaved = findAll(DRAFT);
  if (!unsaved.length) return next();
  stay();
  const lost = unsaved.map(({ dataset }) => dataset.draft).join(" ");
  confirm("Leave without saving?", lost, "Discard the changes", () => {
    for (const { dataset } of unsaved) delete dataset.changed;
    return next();
  });
}

// `rows`: what differs, the owner's version, the stored version; false if the owner has not changed it.
export function showConflict(thing, rows, { keepMine, takeStored }) {
  const choose = (action) =>
    trying(async () => {
      dialog.close();
      await action();
    });
  const dialog = open(
    `This ${thing} was changed in the meantime`,
    h("p", "Your change is not saved yet. Which version do you want to keep?"),
    table(
      { class: "versions" },
      ["", "Yours", "Stored now"],
      rows
        .filter(([, mine, stored, isMine = true]) => isMine || mine !== stored)
        .map(([label, mine, stored, isMine = true]) => [
          h("th", { scope: "row" }, label, !isMine && " (changed in the meantime; stays)"),
          mine,
          stored,
        ]),
    ),
    h(
      ".row",
      h("button.primary", { onclick: choose(keepMine) }, "Save mine"),
      h("button", { onclick: choose(takeStored) }, "Keep the stored version"),
    ),
  );
}

// Texts that are typed and not stored yet, kept in this browser. They belong to the user who is signed in: signing out
// drops them, and so does another user who signs in.
const KEY = "journal-drafts";
let owner = "";

const stored = () => JSON.parse(localStorage.getItem(KEY) ?? "{}");
const drafts = () => (stored().owner === owner ? stored().texts : {});

export const dropDrafts = () => localStorage.removeItem(KEY);

export function keepDraftsOf({ id, created_at: since }) {
  owner = `${id} ${since}`;
  if (stored().owner !== owner) dropDrafts();
}

// `base` is the stored text that is being changed.
/** @returns {{ text: string, base: string, place: string, label: string } | undefined} */
export const draftOf = (path, name) => drafts()[`${path} ${name}`];

// Without a draft, there is none any more. Where the browser keeps nothing more, the text is in its form alone.
export function keepDraft(path, name, draft) {
  const texts = { ...drafts(), [`${path} ${name}`]: draft };
  try {
    localStorage.setItem(KEY, JSON.stringify({ owner, texts }));
  } catch {}
}

// Leads to the texts that are not in this view.
export function draftsNotice() {
  const others = Object.entries(drafts()).filter(([key]) => {
    const [path, name] = key.split(" ");
    return !find(`form[data-path="${path}"][data-text="${name}"]`);
  });
  return (
    others.length > 0 &&
    h(
      "p.card.warn",
      "Typed here, and not stored yet: ",
      others.map(([, { place, label, text }]) => [
        h("a", { href: place }, label),
        ` “${text.slice(0, 40)}” `,
      ]),
    )
  );
}
