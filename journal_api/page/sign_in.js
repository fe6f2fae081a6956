// Signing in and out.

import { exchange, key, send, waysIn, whoIs } from "./client.js";
import { confirm, dropDrafts, keepDraftsOf, open } from "./dialogs.js";
import { checkbox, field, find, form, h } from "./dom.js";

let owner = null; // the id of the last user of this page

export function belongsTo(me) {
  owner = me.id;
  keepDraftsOf(me);
}

// "" for a key, which is not taken from there. The history of the browser keeps a code, but it is of no use twice.
export function takeCode(address) {
  const [, name, value] = location.hash.match(/^#(code|key)=(.*)$/) ?? [];
  if (name) history.replaceState(null, "", address);
  return name === "key" ? "" : value;
}

// Any web page can lead to such an address, so no sign-in that works is replaced without a question. A link that is
// made for a phone ends in `&stay`, because there a tab does not last.
export async function signInByCode(link, signIn, then) {
  const [code, stay] = link.split("&");
  const use = async () => {
    const made = await exchange(code);
    await enter(made.key, { id: made.key_id, longer: stay === "stay" }, then);
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

async function currentUser() {
  try {
    return key.get() && ((await whoIs(key.get())) ?? {});
  } catch (error) {
    if (error.status !== 401) throw error;
    key.remove();
  }
}

async function enter(value, options, then) {
  const me = await whoIs(value);
  key.set(value, options);
  if (owner === null || owner === me?.id) return then();
  startAnew();
}

function startAnew() {
  document.body.replaceChildren();
  location.reload();
}

// A key of a one-time code is in no other place, so it is revoked.
export async function signOut() {
  dropDrafts();
  document.body.replaceChildren();
  if (key.id()) await send("DELETE", `/keys/${key.id()}`).catch(() => {});
  key.remove();
  startAnew();
}

export function signInAbove(message) {
  if (find("#sign-in")) return;
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
  waysIn().then(
    (ways) => {
      command.append(ways.command);
      if (ways.user) element.before(proxyForm(ways.user, then));
    },
    () => {},
  ); // a service that is away says so when it is asked
  const element = form(
    { id: "sign-in" },
    (values) => enter(values.key.trim(), { longer: Boolean(values.longer) }, then),
    message && h("p.error", { role: "alert" }, message),
    field(
      "API key",
      h("input", { type: "password", name: "key", autocomplete: "off", required: true, spellcheck: "false" }),
      "It stays in this tab until the tab is closed.",
    ),
    checkbox("Stay signed in on this browser", { name: "longer" }),
    h("button.primary", "Sign in"),
    h("p.muted", "This command prints a new key, in a terminal on the machine of the journal:"),
    h("p", command),
  );
  return element;
}

function proxyForm(user, then) {
  const use = async () => {
    const made = await exchange();
    await enter(made.key, { id: made.key_id }, then);
  };
  return form({ id: "sign-in-by-proxy" }, use, h("button.primary", `Sign in as ${user}`));
}
