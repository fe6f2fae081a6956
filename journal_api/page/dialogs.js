// Dialogs, and what is typed and not saved yet.

import { find, form, h, table, wordsOf } from "./dom.js";

export const trying = (action) => async (event) => {
  const button = event?.currentTarget;
  if (button?.disabled) return;
  if (button) button.disabled = true;
  try {
    await action(event);
  } catch (error) {
    open("That did not work", h("p.error", wordsOf(error)));
  }
  if (button) button.disabled = false;
};

// A modal dialog, removed when it closes. Closing it by hand asks first if something was typed. Escape is a key here,
// because a browser lets no page cancel it twice.
export function open(title, ...children) {
  const leave = (event) => {
    if (!find("form[data-changed]", dialog)) return event.type === "click" && dialog.close();
    event.preventDefault();
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

export async function leave(next, stay) {
  const draft = find(DRAFT);
  if (draft?.saving) {
    if (draft.contains(document.activeElement)) /** @type {any} */ (document.activeElement).blur(); // saves
    await draft.saving;
  }
  const unsaved = find(DRAFT);
  if (!unsaved) return next();
  stay();
  confirm("Leave without saving?", unsaved.dataset.draft, "Discard the changes", () => {
    delete unsaved.dataset.changed;
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
