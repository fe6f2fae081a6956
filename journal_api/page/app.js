// The frame: routes, selection, redrawing.

import { get, href, key, readAnew, send, watchAnew } from "./client.js";
import { DRAFT, TYPED, draftsNotice, leave, trying } from "./dialogs.js";
import { card, find, findAll, h, isKey, isTouched, released, select } from "./dom.js";
import { follow } from "./following.js";
import { scopeOf, scopeOptions, tradingDay } from "./format.js";
import { belongsTo, signInAbove, signInByCode, signInForm, signOut, takeCode } from "./sign_in.js";

const SLOW = 300; // milliseconds until a view that is being read looks like it
const VIEWS = {
  today: () => import("./views/goals.js"),
  day: () => import("./views/day.js"),
  days: () => import("./views/days.js"),
  report: () => import("./views/reports.js"),
  trades: () => import("./views/trades.js"),
  strategies: () => import("./views/strategies.js"),
  import: () => import("./views/imports.js"),
  settings: () => import("./views/me.js"),
  search: () => import("./views/search.js"),
};
// The page of help for each view.
const HELP = {
  today: "goals#pace",
  day: "journal",
  days: "journal",
  report: "page#what-pays",
  trades: "page#a-trade",
  strategies: "page#strategies",
  import: "page#an-import",
  settings: "accounts",
  search: "journal#search",
};
const STANDING = ["today", "day", "days", "import", "settings"]; // views that show how accounts stand by their rules
const header = find("header");
const main = find("main");
const search = find("#search");
const help = find("#help");
let drawing = 0; // an older one that ends later is dropped
let shown = ""; // the hash of the newest drawing
let stale = ""; // or part of what was read is, or all
let fading;

function route() {
  const [, name = "", id = "", query = ""] = location.hash.match(/^#\/([a-z]*)\/?([^?]*)\??(.*)$/) ?? [];
  return { name: Object.hasOwn(VIEWS, name) ? name : "today", id, query: new URLSearchParams(query) };
}

const go = (name, query) => {
  location.hash = href(name, query);
};

// Days that are over show how accounts stood then.
const atEnd = (name, query, me) =>
  name === "days" && query.get("to") < tradingDay(me) ? query.get("to") : null;

async function contextOf({ name, id, query }) {
  const me = await get("/me"); // alone, so that what follows is no older than its cursor
  const [accounts, groups] = await Promise.all([
    get("/accounts", STANDING.includes(name) ? { with: "standing", at: atEnd(name, query, me.data.me) } : {}),
    get("/copy-groups"),
  ]);
  belongsTo(me.data.me);
  return {
    name,
    id,
    query,
    selection: scopeOf(me.data.me.active_selection),
    go,
    signOut,
    redraw: () => location.hash === shown && draw(), // another address is drawn by its own event
    me: me.data.me,
    meEtag: me.etag,
    accounts: accounts.data.accounts,
    copyGroups: groups.data.copy_groups,
  };
}

async function draw(isFollowed = false) {
  const mine = ++drawing;
  const place = route();
  if (!key.get()) return signIn();
  shown = location.hash;
  stale = "";
  setBusy(true);
  const section = place.name === "day" ? "days" : place.name;
  for (const link of findAll("nav a")) link.ariaCurrent = link.hash === `#/${section}` ? "page" : null;
  watchAnew(isFollowed);
  let nodes, context, error;
  try {
    context = await contextOf(place);
    const { view } = await VIEWS[place.name]();
    nodes = await view(context);
  } catch (reason) {
    error = reason;
  }
  await released();
  if (mine !== drawing) return;
  readAnew();
  if (error?.status === 401) return signIn(error.message);
  if (isFollowed && isInUse()) stale = "part";
  else if (!error || !keepsShown(error, place)) {
    if (!error) showSelection(context);
    put(place.name, nodes ?? failure(error));
  }
  setBusy(false);
  showAway(isAway(error));
  followUntilDrawn(mine, error, context?.me);
}

// After a failure everything is drawn again, once the journal answers.
function followUntilDrawn(mine, error, me) {
  const day = me && tradingDay(me);
  follow(
    {
      isOver: () => mine !== drawing,
      isOld: () => me && tradingDay(me) !== day,
      hasFailed: isAway(error),
    },
    {
      changed(part) {
        stale = part;
        drawWhenQuiet();
      },
      refused: ({ message }) => signIn(message),
      away: showAway,
    },
  );
}

// What was read before stays, below a bar that says so; and what is typed.
const keepsShown = (error, { name }) =>
  isAway(error) ? !header.hidden && !find("#failure") : main.dataset.view === name && find(DRAFT);
const isAway = (error) => error?.status === 0 || error?.status >= 500;
const showAway = (isShown) => {
  find("#away").hidden = !isShown || Boolean(find("#failure"));
};

// Neither a form that is being filled in, nor a dialog, nor what is being pressed is drawn over.
const isInUse = () =>
  find("form[data-changed], [data-changed]:focus, dialog[open], main:active") || isTouched();

function drawWhenQuiet() {
  if (stale && main.ariaBusy !== "true" && !isInUse()) draw(stale === "part");
}

function setBusy(isBusy) {
  main.ariaBusy = String(isBusy);
  fading?.cancel();
  fading = isBusy
    ? main.animate([{ opacity: 1 }, { opacity: 0.5 }], { delay: SLOW, duration: 150, fill: "forwards" })
    : null;
}

function showSelection({ me, accounts, copyGroups, redraw }) {
  const value = me.active_selection;
  const change = trying(async () => {
    await send("PATCH", "/me", { body: { active_selection: list.value } });
    await redraw();
  });
  const stay = () => {
    list.value = value;
  };
  const list = select(
    { id: "selection", "aria-label": "Accounts shown", value, onchange: () => leave(change, stay) },
    [["all", "All accounts"], ...scopeOptions({ accounts, copyGroups })],
  );
  find("#selection")?.remove();
  if (accounts.length > 1) header.append(list);
}

// Where something is not saved, the old address stays until the owner agrees to lose that.
function arrive() {
  const code = takeCode(shown || "/");
  if (code !== undefined) return code && signInByCode(code, signIn, draw);
  const { hash } = location;
  let hasStayed = false;
  leave(
    () => {
      if (hasStayed) return location.assign(hash || "#/today");
      for (const dialog of findAll("dialog[open]:not(:has(form[data-changed]))")) dialog.close();
      return draw();
    },
    () => {
      hasStayed = true;
      history.pushState(null, "", shown || "/");
    },
  );
}

// What was typed into a form stays, but in the form that has just saved it.
const TYPED_FORMS = "form[id][data-changed]:not([aria-busy=true])";
function retype(old, form) {
  [...old.elements].forEach((one, place) => {
    const { type, value, checked } = one;
    const again = form?.elements[place];
    if (!("typed" in one.dataset) || again?.name !== one.name) return;
    Object.assign(again, /^(checkbox|radio)$/.test(type) ? { checked } : { value });
    again.dataset.typed = form.dataset.changed = "";
  });
}

// Where the focus was, it stays; where that is gone, it is at the beginning of what is new.
function put(name, nodes) {
  const isOther = main.dataset.view !== name;
  /** @type {any} */
  const old = document.activeElement;
  const hadFocus = main !== old && main.contains(old);
  const { selectionStart, selectionEnd } = old ?? {};
  header.hidden = !(name in VIEWS);
  help.href = `/help/${HELP[name] ?? "page"}`;
  if (name !== "search" && old !== search.q) search.reset();
  main.dataset.view = name;
  const typed = isOther ? [] : findAll(TYPED_FORMS, main);
  main.replaceChildren(...[nodes].flat(Infinity).filter(Boolean));
  for (const form of typed) retype(form, document.getElementById(form.id));
  const notice = !header.hidden && draftsNotice();
  if (notice) main.prepend(notice);
  document.title = `${header.hidden ? "Sign in" : find("h1, h2", main)?.textContent} · Trading journal`;
  setBusy(false);
  if (isOther) window.scrollTo(0, 0);
  if (!hadFocus) return;
  /** @type {any} */
  const again = !isOther && old.id && document.getElementById(old.id);
  (again || find("#trade", main) || main).focus({ preventScroll: true });
  // Else what is being typed would go on at the end of the text, or not replace what is selected.
  if (selectionStart != null) again?.setSelectionRange?.(selectionStart, selectionEnd);
}

function failure(error) {
  return card(
    "This cannot be shown",
    { id: "failure", role: "alert" },
    h("p.error", error.message ?? String(error)),
    h(
      ".row",
      h("button", { onclick: () => draw() }, "Try again"),
      h("button", { onclick: signOut }, "Sign out and use another key"),
    ),
  );
}

// Text that is not saved stays below the form.
function signIn(message) {
  key.remove();
  drawing++;
  setBusy(false);
  if (main.dataset.view !== "sign-in" && find(TYPED)) return signInAbove(message);
  for (const dialog of findAll("dialog[open]")) dialog.close();
  const element = signInForm(message, draw);
  put("sign-in", h("section.card.narrow", h("h1", "Trading journal"), element));
  element.elements.key.focus();
}

async function start() {
  const code = takeCode("/");
  if (!code || key.get()) await draw();
  if (code) await signInByCode(code, signIn, draw);
}

find(".skip").onclick = (event) => {
  event.preventDefault();
  main.focus();
};
search.onsubmit = (event) => {
  event.preventDefault();
  go("search", { q: search.q.value });
};
addEventListener("keydown", (event) => {
  if (event.key !== "/" || !isKey(event)) return;
  event.preventDefault();
  search.q.select();
});
addEventListener("hashchange", arrive);
addEventListener("input", (/** @type {any} */ { target }) => {
  target.dataset.typed = "";
  if (target.form !== search && (target.form || target.type !== "checkbox"))
    (target.form ?? target).dataset.changed = "";
});
addEventListener("beforeunload", (event) => find(TYPED) && event.preventDefault());
// Another tab has signed out, or in with another key.
addEventListener("storage", () => {
  if (key.stored() === key.get()) return;
  if (!key.stored() && find(TYPED)) signIn();
  else location.reload(); // before typed text is lost, it asks
});
setInterval(drawWhenQuiet, 500);
start();
