// The open trade: what happened, and the owner's judgement of it. Every change is saved at once, with If-Match.

import { get, send } from "../client.js";
import { confirm, h, select, wordsOf } from "../dom.js";
import { GRADES } from "../enums.js";
import { amount, gainOrLoss, instant, NONE, number, shortDay, signed } from "../format.js";
import { showConflict } from "./conflict.js";
import { notesForm, notesSaved, notesUnsaved, unsavedNotes } from "./notes.js";
import { editTrade } from "./trade_form.js";

// The panel of the trade that was read, undefined if there is none; `back` is the address without it.
export async function tradePanel(context, lists, opened, back) {
  const close = h("a", { href: back, class: "button close", "aria-label": "Close the trade" }, "✕");
  if (!opened) {
    const gone = h("p", null, "This trade does not exist any more.");
    return h("section", { class: "card", id: "trade" }, h("div", { class: "title" }, gone, close));
  }
  const { trade } = opened.data;
  const strategy = trade.strategy_id && (await get(`/strategies/${trade.strategy_id}`)).data.strategy;
  const setup = strategy?.setups.find(({ setup_id }) => setup_id === trade.setup_id);
  const { save, latest } = saver(context, opened, { ...lists, strategy });
  const remove = () => confirm("Delete this trade?",
    `${trade.symbol}, opened ${instant(trade.opened_at, context.me.timezone)}, goes with its tags and answers.`, "Delete", async () => {
      await send("DELETE", `/trades/${trade.id}`, { etag: latest().etag });
      location.hash = back;
    });
  const scrolled = document.getElementById("trade")?.scrollTop ?? 0;
  const panel = h("section", { class: "card", id: "trade", "data-id": trade.id, "aria-label": "Trade" },
    h("div", { class: "title" },
      h("h2", null, trade.symbol, h("small", null, trade.direction === "long" ? " ▲ long" : " ▼ short")),
      h("span", { class: `big ${gainOrLoss(trade.net_pnl)}` }, trade.net_pnl == null ? "open" : signed(trade.net_pnl)), close),
    facts(context, trade),
    trade.source_trade_id && h("p", { class: "muted" }, "A copy: reports judge the decision by ",
      h("a", { href: `#/trades?id=${trade.source_trade_id}` }, "the original"), "."),
    h("div", { class: "field" }, h("span", { id: "grades" }, "Grade"), grades(trade, save)),
    tagsOf(trade, lists.tags, save),
    setupOf(trade, lists.strategies, strategy, save),
    setup && checklist(trade, setup, save),
    notesForm(trade, save),
    h("p", { class: "muted", id: "saved", role: "status" }),
    h("div", { class: "row" },
      h("button", { type: "button", onclick: () => editTrade(context, lists, latest()) }, "Change prices and times"),
      h("button", { type: "button", class: "danger", onclick: remove }, "Delete")));
  requestAnimationFrame(() => { panel.scrollTop = scrolled; });
  return panel;
}

// A tag; the colour is beside its name.
export const chip = ({ name, color, type }, ...more) => h("span", { class: "chip" },
  h("span", { class: "dot", style: { background: color }, "aria-hidden": "true" }), name,
  type === "mistake" && h("span", { title: "A mistake" }, " ✗"), more);

function facts({ me, accounts }, trade) {
  const at = (text) => instant(text, me.timezone);
  const rows = [
    ["Opened", at(trade.opened_at)], ["Closed", at(trade.closed_at)],
    ["Entry", number(trade.entry_price)], ["Exit", number(trade.exit_price)],
    ["Quantity", trade.multiplier === 1 ? number(trade.quantity) : `${number(trade.quantity)} × ${number(trade.multiplier)}`],
    ["Stop", number(trade.stop_loss)],
    ["Gross", signed(trade.gross_pnl)], ["Fees", amount(trade.fees)],
    ["Initial risk", amount(trade.initial_risk)], ["R", signed(trade.rr_realized)],
    ["Account", accounts.find(({ id }) => id === trade.account_id)?.name],
    ["Trading day", trade.trading_day ? shortDay(trade.trading_day) : NONE],
  ];
  return h("dl", { class: "facts" }, rows.map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value))));
}

const grades = (trade, save) => h("div", { class: "row", role: "group", "aria-labelledby": "grades" }, GRADES.map((grade, place) =>
  h("button", {
    type: "button", id: `grade-${place + 1}`, "data-grade": grade, "aria-pressed": String(trade.grade === grade), title: `Key ${place + 1}`,
    onclick: () => save((now) => ({ grade: now.grade === grade ? null : grade })),
  }, grade)));

function tagsOf(trade, tags, save) {
  const ids = trade.tags.map(({ id }) => id);
  const others = tags.filter(({ id }) => !ids.includes(id));
  const remove = (tag) => h("button", { type: "button", class: "quiet", "aria-label": `Remove the tag ${tag.name}`,
    onclick: () => save((now) => ({ tag_ids: now.tag_ids.filter((id) => id !== tag.id) })) }, "✕");
  return h("div", { class: "field" }, h("span", null, "Tags"), h("div", { class: "row" }, trade.tags.map((tag) => chip(tag, remove(tag))),
    others.length > 0 && select({ id: "add-tag", "aria-label": "Add a tag", onchange: ({ target }) => save((now) => ({ tag_ids: [...now.tag_ids, Number(target.value)] })) },
      [["", "Add a tag…"], ...others.map(({ id, name }) => [id, name])])));
}

function setupOf(trade, strategies, strategy, save) {
  const choice = (name, label, value, options) => h("label", { class: "field" }, h("span", null, label), select({
    id: `of-${name}`, value: value ?? "", onchange: ({ target }) => save(() => ({ [name]: target.value ? Number(target.value) : null })),
  }, [["", "None"], ...options]));
  return h("div", { class: "row" },
    choice("strategy_id", "Strategy", trade.strategy_id, strategies.map(({ id, name }) => [id, name])),
    strategy && choice("setup_id", "Setup", trade.setup_id, strategy.setups.map(({ setup_id, name }) => [setup_id, name])));
}

// Yes, no or not answered; a second press takes the answer back.
function checklist(trade, setup, save) {
  const known = new Map(trade.confirmations.map((answer) => [answer.confirmation_id, answer]));
  const answer = (id, was_present) => save(({ confirmations }) => {
    const others = confirmations.filter((one) => one.confirmation_id !== id);
    const before = confirmations.find((one) => one.confirmation_id === id);
    const mine = before?.was_present === was_present ? [] : [{ confirmation_id: id, was_present, notes: before?.notes ?? null }];
    return { confirmations: [...others, ...mine].map(({ name, ...rest }) => rest) };
  });
  const button = ({ confirmation_id: id, name }, value, word) => h("button", {
    type: "button", id: `answer-${id}-${word}`, "aria-label": `${word}: ${name}`,
    "aria-pressed": String(known.get(id)?.was_present === value),
    onclick: () => answer(id, value),
  }, value ? "✓ yes" : "✗ no");
  return h("fieldset", null, h("legend", null, "Checklist"), setup.confirmations.length === 0
    ? h("p", { class: "muted" }, "This setup has no confirmations.")
    : h("ul", { class: "checklist" }, setup.confirmations.map((one) =>
      h("li", null, h("span", { title: one.description }, one.name), h("span", { class: "answers" }, button(one, true, "yes"), button(one, false, "no"))))));
}

function say(text, kind = "muted") {
  const place = document.getElementById("saved");
  if (place) Object.assign(place, { textContent: text, className: kind });
}

// What the API calls each part of the judgement, and where it is written.
const PATHS = { tag_ids: "tags", confirmations: "confirmations" };
const LABELS = { grade: "Grade", notes: "Notes", strategy_id: "Strategy", setup_id: "Setup", tag_ids: "Tags", confirmations: "Checklist" };

// save(changeOf) writes the member that changeOf(trade) returns; one write waits for the other.
function saver({ redraw }, opened, lists) {
  const path = `/trades/${opened.data.trade.id}`;
  let newest = opened; // what was read or written last: a trade and its ETag
  let queue = Promise.resolve();
  const write = async (change, withRedraw) => {
    const part = PATHS[Object.keys(change)[0]];
    newest = await send(part ? "PUT" : "PATCH", part ? `${path}/${part}` : path, { body: change, etag: newest.etag });
    if ("notes" in change) notesSaved(opened.data.trade, change.notes);
    if (withRedraw) await redraw();
    say(unsavedNotes() ? "Saved, but not the notes." : "Saved.");
  };
  const attempt = async (change, withRedraw) => {
    try {
      await write(change, withRedraw);
    } catch (error) {
      if (error.status !== 412) throw error;
      if ("notes" in change) notesUnsaved(opened.data.trade, "The trade was changed in the meantime.");
      const before = newest.data.trade;
      newest = await get(path);
      showConflict("trade", versions(change, before, newest.data.trade, lists),
        { keepMine: () => attempt(change, true), takeStored: () => takeStored(change) });
    }
  };
  const takeStored = (change) => {
    if ("notes" in change) notesSaved(opened.data.trade);
    return redraw();
  };
  const save = (changeOf, withRedraw = true) => {
    queue = queue.then(async () => {
      const change = changeOf(newest.data.trade);
      try {
        await attempt(change, withRedraw);
      } catch (error) {
        if ("notes" in change) notesUnsaved(opened.data.trade, wordsOf(error));
        if (withRedraw) await redraw(); // shows what is stored
        say(wordsOf(error), "error");
      }
    });
    return queue;
  };
  return { save, latest: () => newest };
}

// The rows of a conflict: the change, then whatever else was changed in the meantime.
function versions(change, before, stored, { strategies, strategy, tags }) {
  const nameIn = (list, id) => list?.find((one) => (one.setup_id ?? one.id) === id)?.name;
  const words = {
    strategy_id: (id) => nameIn(strategies, id), setup_id: (id) => nameIn(strategy?.setups, id),
    tag_ids: (ids) => ids.map((id) => nameIn(tags, id)).sort().join(", "),
    confirmations: (answers) => answers.map(({ confirmation_id: id, was_present }) =>
      `${was_present ? "✓" : "✗"} ${strategy?.setups.flatMap((one) => one.confirmations).find((one) => one.confirmation_id === id)?.name}`).join(", "),
  };
  const text = (name, value) => (words[name]?.(value) ?? value) || NONE;
  return Object.keys(LABELS)
    .map((name) => [name, text(name, change[name] === undefined ? before[name] : change[name]), text(name, stored[name])])
    .filter(([name, mine, theirs]) => name in change || mine !== theirs)
    .map(([name, mine, theirs]) => [name in change ? LABELS[name] : `${LABELS[name]} (changed in the meantime; stays)`, mine, theirs]);
}
