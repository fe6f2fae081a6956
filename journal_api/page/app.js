// The frame: signing in, the routes behind #, the selection, and redrawing what has changed.

import { get, hasChanged, key, send, watchAnew } from "./client.js";
import { field, form, h, select, trying } from "./dom.js";

const POLL_EVERY = 10_000; // milliseconds
const VIEWS = {
  today: ["Today", () => import("./views/goals.js")],
  report: ["What pays", () => import("./views/reports.js")],
  trades: ["Trades", () => import("./views/trades.js")],
  strategies: ["Strategies", () => import("./views/strategies.js")],
  import: ["Import", () => import("./views/imports.js")],
  settings: ["Settings", () => import("./views/me.js")],
};
const header = document.querySelector("header");
const main = document.querySelector("main");
let drawing = 0; // the newest drawing; an older one that ends later is dropped
let isStale = false;

// #/trades?symbol=ES: the name of the view, and its query.
function route() {
  const [, name = "", query = ""] = location.hash.match(/^#\/([a-z]*)\??(.*)$/) ?? [];
  return { name: VIEWS[name] ? name : "today", query: new URLSearchParams(query) };
}

// Goes to a view, or to the same with another query.
export function go(name, query = {}) {
  const sent = new URLSearchParams(Object.entries(query).filter(([, value]) => value != null && value !== ""));
  location.hash = `#/${name}${sent.size ? `?${sent}` : ""}`;
}

// What every view is given: the owner, the accounts and groups, the selection as filters of trades and reports.
async function contextOf({ name, query }) {
  const [me, accounts, groups] = await Promise.all(["/me", "/accounts", "/copy-groups"].map((path) => get(path)));
  const [kind, id] = me.data.me.active_selection.split("_");
  const selection = { account: { account_id: Number(id) }, group: { copy_group_id: Number(id) } }[kind] ?? {};
  return {
    name, query, selection, go, redraw: draw, signOut: () => signIn(),
    me: me.data.me, meEtag: me.etag,
    accounts: accounts.data.accounts, copyGroups: groups.data.copy_groups,
  };
}

async function draw() {
  const mine = ++drawing;
  const place = route();
  if (!key.get()) return signIn();
  isStale = false;
  main.setAttribute("aria-busy", "true");
  watchAnew();
  let nodes;
  try {
    const context = await contextOf(place);
    const { view } = await VIEWS[place.name][1]();
    nodes = await view(context);
    if (mine === drawing) header.replaceChildren(...barOf(context));
  } catch (error) {
    if (mine !== drawing) return;
    if (error.status === 401) return signIn(error.message);
    nodes = failure(error);
  }
  if (mine !== drawing) return;
  put(place.name, nodes);
}

// Puts the view in the place of the last; where the focus was, it stays.
function put(name, nodes) {
  const isOther = main.dataset.view !== name;
  const focused = main.contains(document.activeElement) && document.activeElement.id;
  document.title = `${VIEWS[name]?.[0] ?? "Sign in"} · Trading journal`;
  main.dataset.view = name;
  main.replaceChildren(...[nodes].flat().filter(Boolean));
  main.setAttribute("aria-busy", "false");
  if (isOther) window.scrollTo(0, 0);
  if (focused && !isOther) document.getElementById(focused)?.focus({ preventScroll: true });
}

function failure(error) {
  const scope = error.details?.required_scope;
  return h("section", { class: "card", role: "alert" }, h("h2", null, "This cannot be shown"),
    h("p", { class: "error" }, error.message ?? String(error)),
    scope && h("p", null, "The key lacks the scope ", h("code", null, scope), "."),
    h("button", { onclick: draw }, "Try again"));
}

function barOf({ name, me, accounts, copyGroups, redraw }) {
  const choose = trying(async (event) => {
    await send("PATCH", "/me", { body: { active_selection: event.target.value } });
    await redraw();
  });
  const options = [
    ["all", "All accounts"],
    ...accounts.filter((one) => !one.archived).map((one) => [`account_${one.id}`, one.name]),
    ...copyGroups.map((one) => [`group_${one.id}`, `${one.name} (group)`]),
  ];
  return [
    h("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); main.focus(); } }, "Skip to content"),
    h("nav", { "aria-label": "Views" }, Object.entries(VIEWS).map(([view, [title]]) =>
      h("a", { href: `#/${view}`, "aria-current": view === name && "page" }, title))),
    accounts.length > 1 && select({ id: "selection", "aria-label": "Accounts shown", value: me.active_selection, onchange: choose }, options),
  ].filter(Boolean);
}

function signIn(message) {
  key.remove();
  drawing++;
  header.replaceChildren();
  const input = h("input", { type: "password", name: "key", autocomplete: "off", required: true, spellcheck: "false" });
  put("sign-in", h("section", { class: "card narrow" },
    h("h1", null, "Trading journal"),
    message && h("p", { class: "error", role: "alert" }, message),
    form({ id: "sign-in" }, (values) => {
      key.set(values.key.trim(), Boolean(values.longer));
      return draw();
    }, field("API key", input, "It stays in this tab until the tab is closed."),
    h("label", { class: "check" }, h("input", { type: "checkbox", name: "longer" }), "Stay signed in on this browser"),
    h("button", { class: "primary" }, "Sign in")),
    h("p", { class: "muted" }, h("code", null, "journal-api keys create page"), " prints a new key.")));
  input.focus();
}

// A key in the address is kept and removed from it at once, so that no history or bookmark has it.
function takeKey() {
  const [, value] = location.hash.match(/^#key=(.+)$/) ?? [];
  if (!value) return;
  key.set(decodeURIComponent(value));
  history.replaceState(null, "", "/");
}

// Polls while the page is visible; a form that is being filled in, or a dialog, is not drawn over.
async function poll() {
  if (document.visibilityState !== "visible" || !key.get() || main.getAttribute("aria-busy") === "true") return;
  try {
    isStale = (await hasChanged()) || isStale;
  } catch (error) {
    if (error.status === 401) return signIn(error.message);
    return;
  }
  if (isStale && !document.querySelector("form[data-changed], dialog[open]")) await draw();
}

addEventListener("hashchange", () => { takeKey(); draw(); });
addEventListener("visibilitychange", poll);
addEventListener("input", (event) => event.target.form && (event.target.form.dataset.changed = ""));
setInterval(poll, POLL_EVERY);
takeKey();
draw();
