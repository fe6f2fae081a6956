// The frame: the routes behind #, the selection, and redrawing what has changed.

import { get, hasChanged, key, watchAnew } from "./client.js";
import { findAll, h } from "./dom.js";
import { DRAFT, leave, TYPED } from "./drafts.js";
import { headerOf } from "./header.js";
import { belongsTo, signInAbove, signInByCode, signInForm, signOut, takeCode } from "./sign_in.js";

const POLL_EVERY = 10_000; // milliseconds
const SLOW = 300; // milliseconds after which a view that is being read looks like it
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
let shown = ""; // the hash of the newest drawing
let isStale = false;
let isPolling = false;
let fading;

// #/trades?symbol=ES: the name of the view, and its query.
function route() {
  const [, name = "", query = ""] = location.hash.match(/^#\/([a-z]*)\??(.*)$/) ?? [];
  return { name: Object.hasOwn(VIEWS, name) ? name : "today", query: new URLSearchParams(query) };
}

// Goes to a view, or to the same with another query.
export function go(name, query = {}) {
  const sent = new URLSearchParams(
    Object.entries(query).filter(([, value]) => value != null && value !== ""),
  );
  location.hash = `#/${name}${sent.size ? `?${sent}` : ""}`;
}

// What every view is given: the owner, the accounts and groups, the selection as filters of trades and reports.
async function contextOf({ name, query }) {
  const [me, accounts, groups] = await Promise.all(
    ["/me", "/accounts", "/copy-groups"].map((path) => get(path)),
  );
  belongsTo(me.data.me);
  const [kind, id] = me.data.me.active_selection.split("_");
  const selection = { account: { account_id: Number(id) }, group: { copy_group_id: Number(id) } }[kind] ?? {};
  return {
    name,
    query,
    selection,
    go,
    signOut,
    redraw: () => location.hash === shown && draw(), // another address is drawn by its own event
    me: me.data.me,
    meEtag: me.etag,
    accounts: accounts.data.accounts,
    copyGroups: groups.data.copy_groups,
  };
}

async function draw() {
  const mine = ++drawing;
  const place = route();
  if (!key.get()) return signIn();
  shown = location.hash;
  isStale = false;
  setBusy(true);
  for (const link of findAll("nav a", header)) {
    if (link.hash === `#/${place.name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  watchAnew();
  let nodes;
  try {
    const context = await contextOf(place);
    const { view } = await VIEWS[place.name][1]();
    nodes = await view(context);
    if (mine === drawing) header.replaceChildren(...headerOf(VIEWS, context));
  } catch (error) {
    if (mine !== drawing) return;
    if (error.status === 401) return signIn(error.message);
    isStale = error.status === 0 || error.status >= 500; // drawn again once the journal answers
    if (main.dataset.view === place.name && document.querySelector(DRAFT)) return setBusy(false);
    nodes = failure(error);
  }
  if (mine !== drawing) return;
  put(place.name, nodes);
}

function setBusy(isBusy) {
  main.setAttribute("aria-busy", String(isBusy));
  fading?.cancel();
  fading = isBusy
    ? main.animate([{ opacity: 1 }, { opacity: 0.5 }], { delay: SLOW, duration: 150, fill: "forwards" })
    : null;
}

// Another address is drawn; where something is not saved, the old one stays until the owner agrees to lose that.
function arrive() {
  const code = takeCode(shown || "/");
  if (code !== undefined) return code && signInByCode(code, signIn, draw);
  const { hash } = location;
  let hasStayed = false;
  leave(
    () => (hasStayed ? location.assign(hash || "#/today") : draw()),
    () => {
      hasStayed = true;
      history.pushState(null, "", shown || "/");
    },
  );
}

// Puts the view in the place of the last; where the focus was, it stays.
function put(name, nodes) {
  const isOther = main.dataset.view !== name;
  const focused = main.contains(document.activeElement) && document.activeElement.id;
  document.title = `${VIEWS[name]?.[0] ?? "Sign in"} · Trading journal`;
  main.dataset.view = name;
  main.replaceChildren(...[nodes].flat().filter(Boolean));
  setBusy(false);
  if (isOther) window.scrollTo(0, 0);
  if (focused && !isOther) document.getElementById(focused)?.focus({ preventScroll: true });
}

function failure(error) {
  return h(
    "section.card",
    { role: "alert" },
    h("h2", "This cannot be shown"),
    h("p.error", error.message ?? String(error)),
    h(
      ".row",
      h("button", { onclick: draw }, "Try again"),
      h("button", { onclick: signOut }, "Sign out and use another key"),
    ),
  );
}

// Signing in takes the place of the view; text that is not saved stays below it.
function signIn(message) {
  key.remove();
  drawing++;
  setBusy(false);
  if (main.dataset.view !== "sign-in" && document.querySelector(TYPED)) return signInAbove(message);
  for (const dialog of findAll("dialog[open]")) dialog.close();
  header.replaceChildren();
  const element = signInForm(message, draw);
  put("sign-in", h("section.card.narrow", h("h1", "Trading journal"), element));
  element.elements.key.focus();
}

// Polls while the page is visible; a form that is being filled in, or a dialog, is not drawn over.
async function poll() {
  if (document.visibilityState !== "visible" || isPolling || main.getAttribute("aria-busy") === "true")
    return;
  if (!key.get()) return document.getElementById("sign-in") || signIn();
  isPolling = true;
  try {
    isStale = (await hasChanged()) || isStale;
    if (isStale && !document.querySelector("form[data-changed], dialog[open]")) await draw();
  } catch (error) {
    if (error.status === 401) signIn(error.message);
  } finally {
    isPolling = false;
  }
}

async function start() {
  const code = takeCode("/");
  if (!code || key.get()) await draw();
  if (code) await signInByCode(code, signIn, draw);
}

addEventListener("hashchange", arrive);
addEventListener("visibilitychange", poll);
addEventListener(
  "input",
  (/** @type {any} */ { target }) => target.form && (target.form.dataset.changed = ""),
);
addEventListener("beforeunload", (event) => document.querySelector(TYPED) && event.preventDefault());
// Another tab has signed out, or in with another key.
addEventListener("storage", () => {
  if (key.stored() === key.get()) return;
  if (!key.stored() && document.querySelector(TYPED)) signIn();
  else location.reload(); // nothing of the last user stays; before typed text is lost, it asks
});
setInterval(poll, POLL_EVERY);
start();
