// Texts that are typed and not stored yet, kept in this browser. They belong to the user who is signed in: signing out
// drops them, and so does another user who signs in.

import { find, h } from "./dom.js";

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
