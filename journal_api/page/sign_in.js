// Signing in and out.

import { exchange, key, keyCommand, send, whoIs } from "./client.js";
import { confirm, field, form, h, open } from "./dom.js";

let owner = null; // the id of the user whose journal this page has shown

// What is shown from now on, and what the modules keep, is this user's.
export function belongsTo(me) {
  owner = me.id;
}

// The one-time code in the address, "" for a key, which is not taken from there; undefined without either. It is
// removed from the address at once. The history of the browser keeps it, but a code is of no use after its first.
export function takeCode(address) {
  const [, name, value] = location.hash.match(/^#(code|key)=(.*)$/) ?? [];
  if (name) history.replaceState(null, "", address);
  return name === "key" ? "" : value;
}

// Exchanges the code for a key. Any web page can lead to such an address, so a sign-in that works is never replaced
// without a question. `signIn` shows the form, `then` draws the page.
export async function signInByCode(code, signIn, then) {
  const use = async () => {
    const made = await exchange(code);
    await enter(made.key, { id: made.key_id }, then);
  };
  try {
    const mine = await currentUser();
    if (!mine) return await use();
    const { me } = await exchange(code, true);
    if (me.id === mine.id) return;
    const now = `You are signed in as ${mine.name ?? "a user"} (key …${key.get().slice(-4)}).`;
    confirm(
      "Sign in as another user?",
      `${now} Sign in as ${me.name} instead?`,
      `Sign in as ${me.name}`,
      use,
    );
  } catch (error) {
    if (!key.get()) return signIn(error.message);
    open("You are still signed in", h("p.error", error.message));
  }
}

// The user of the key that the page has, nothing if it has none that works.
async function currentUser() {
  try {
    return key.get() && ((await whoIs(key.get())) ?? {});
  } catch (error) {
    if (error.status !== 401) throw error;
    key.remove();
  }
}

// Signs in with a key. What is on the page and in its modules stays for the same user only.
async function enter(value, options, then) {
  const me = await whoIs(value);
  key.set(value, options);
  if (owner === null || owner === me?.id) return then();
  startAnew();
}

// Leaves nothing of the owner on the page, neither in a view nor in a module.
function startAnew() {
  document.body.replaceChildren();
  location.reload();
}

// A key that a code was exchanged for is in no other place, so it is revoked; another one is only forgotten.
export async function signOut() {
  document.body.replaceChildren();
  if (key.id()) await send("DELETE", `/keys/${key.id()}`).catch(() => {}); // it is forgotten all the same
  key.remove();
  startAnew();
}

// Above text that is not saved.
export function signInAbove(message) {
  if (document.getElementById("sign-in")) return;
  const element = signInForm(message, () => dialog.close());
  const dialog = open(
    "Signed out",
    h("p", "What you typed is still there. Sign in again to save it."),
    element,
  );
  element.elements.key.focus();
}

export function signInForm(message, then) {
  const command = h("code");
  keyCommand().then(
    (line) => command.append(line),
    () => {},
  ); // a service that is away says so when it is asked
  return form(
    { id: "sign-in" },
    (values) => enter(values.key.trim(), { longer: Boolean(values.longer) }, then),
    message && h("p.error", { role: "alert" }, message),
    field(
      "API key",
      h("input", { type: "password", name: "key", autocomplete: "off", required: true, spellcheck: "false" }),
      "It stays in this tab until the tab is closed.",
    ),
    h("label.check", h("input", { type: "checkbox", name: "longer" }), "Stay signed in on this browser"),
    h("button.primary", "Sign in"),
    h("p.muted", "This command prints a new key, in a terminal on the machine of the journal:"),
    h("p", command),
  );
}
