// Signing in and out.

import { get, key } from "./client.js";
import { field, form, h, open } from "./dom.js";

// A key in the address is kept and removed from it at once, so that no history or bookmark has it.
export function takeKey() {
  const [, value] = location.hash.match(/^#key=(.+)$/) ?? [];
  if (!value) return;
  history.replaceState(null, "", "/");
  try {
    key.set(decodeURIComponent(value));
  } catch {
    key.set(value);
  }
}

// Leaves nothing of the owner on the page, neither in a view nor in a module.
export function signOut() {
  key.remove();
  document.body.replaceChildren();
  location.reload();
}

// Above text that is not saved.
export function signInAbove(message) {
  if (document.getElementById("sign-in")) return;
  const element = signInForm(message, async () => {
    await get("/me");
    dialog.close();
  });
  const dialog = open("Signed out", h("p", null, "What you typed is still there. Sign in again to save it."), element);
  element.elements.key.focus();
}

export const signInForm = (message, then) => form({ id: "sign-in" }, async (values) => {
  key.set(values.key.trim(), Boolean(values.longer));
  try {
    await then();
  } catch (error) {
    key.remove();
    throw error;
  }
},
message && h("p", { class: "error", role: "alert" }, message),
field("API key", h("input", { type: "password", name: "key", autocomplete: "off", required: true, spellcheck: "false" }),
  "It stays in this tab until the tab is closed."),
h("label", { class: "check" }, h("input", { type: "checkbox", name: "longer" }), "Stay signed in on this browser"),
h("button", { class: "primary" }, "Sign in"),
h("p", { class: "muted" }, h("code", null, "journal-api keys create page"), " prints a new key."));
