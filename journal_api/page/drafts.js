// What is typed and not saved yet, and the question before it is lost.

import { confirm, find } from "./dom.js";

// A form with data-draft says with it what is lost; `saving`, if the form has it, is the promise of its last write.
export const DRAFT = "form[data-draft][data-changed]";
export const TYPED = `${DRAFT}, dialog[open] form[data-changed]`;

// Runs `next`, after the owner agrees to lose what is not saved; `stay` runs before that question.
export async function leave(next, stay) {
  const draft = find(DRAFT);
  if (draft?.saving) {
    if (draft.contains(document.activeElement)) /** @type {any} */ (document.activeElement).blur(); // which saves
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
