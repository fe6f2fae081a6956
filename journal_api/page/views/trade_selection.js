// The trades that are selected in the list, and the bar with what can be done with them.

import { trying } from "../dialogs.js";
import { find, findAll, h } from "../dom.js";
import { count, number } from "../format.js";
import { changeMany, deleteMany, tradesOf } from "./many_trades.js";

const MAX = 1000;
const UNDO_FOR = 60_000; // milliseconds
const selected = new Set();
let filter = ""; // of the list from which they are selected
let last; // the checkbox from which Shift selects
let done = { text: "", undo: null };
let timer;

/** @param {TradeListItem} trade @param {string} day */
export const box = ({ id, symbol }, day) =>
  h(
    "label.pick",
    h("input", {
      type: "checkbox",
      id: `select-${id}`,
      value: id,
      "aria-label": `Select ${symbol}, ${day}`,
      onclick: ({ currentTarget, shiftKey }) => choose(currentTarget, shiftKey),
    }),
  );
export const boxOfPage = () =>
  h(
    "label.pick",
    h("input#select-page", {
      type: "checkbox",
      "aria-label": "Select the trades of this page",
      onclick: ({ target }) => add(boxes(), target.checked),
    }),
  );

const boxes = () => findAll("#trades tbody .pick input");
const add = (some, isOn) => {
  for (const { value } of some) selected[isOn ? "add" : "delete"](Number(value));
  show();
};

export function choose(target, isRange, isOn = target.checked) {
  const all = boxes();
  const from = isRange ? all.findIndex(({ id }) => id === last) : -1;
  const to = all.indexOf(target);
  add(from < 0 ? [target] : all.slice(Math.min(from, to), Math.max(from, to) + 1), isOn);
  last = target.id;
}

export function clear() {
  const { size } = selected;
  selected.clear();
  show();
  return size > 0;
}

// Says nothing while nothing is selected.
/** @param {Context} context */
export function selectionBar(context, lists, filters, total) {
  if (filter !== JSON.stringify(filters)) selected.clear();
  filter = JSON.stringify(filters);
  const finish = async (text, undo = null) => {
    clearTimeout(timer);
    done = { text, undo };
    timer = setTimeout(() => finishNothing(), UNDO_FOR);
    if (!undo && text.endsWith("deleted")) selected.clear();
    await context.redraw();
  };
  const undo = async () => {
    const kept = await done.undo();
    await finish(kept ? `Undone, but for ${count(kept, "trade")} that changed in the meantime` : "Undone");
  };
  const all = async () => {
    for (const { id } of await tradesOf(whereOf(filters))) selected.add(id);
    show();
  };
  const change = () => changeMany(context, lists, [...selected], finish);
  const remove = () => deleteMany([...selected], finish);
  requestAnimationFrame(show);
  return h(
    "section#selected.card.title.unseen",
    { "aria-label": "Selected trades" },
    h("p", { role: "status" }),
    h(
      ".row",
      h("button#undo", { onclick: trying(undo) }, "Undo"),
      h(
        "button#select-all",
        { onclick: trying(all), disabled: total > MAX, "data-total": total },
        `Select all ${number(total)}`,
      ),
      h("button#change-many.primary", { onclick: trying(change) }, "Change…"),
      h("button#delete-many.danger", { onclick: trying(remove) }, "Delete…"),
      h("button#select-none", { onclick: clear }, "Clear"),
    ),
  );
}

const whereOf = (filters) =>
  Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [name, name.endsWith("_id") ? Number(value) : value]),
  );

function finishNothing() {
  done = { text: "", undo: null };
  show();
}

function show() {
  const bar = find("#selected");
  if (!bar) return;
  const { size } = selected;
  const all = boxes();
  for (const one of all) one.checked = selected.has(Number(one.value));
  const chosen = all.filter(({ checked }) => checked).length;
  const ofPage = find("#select-page");
  if (ofPage)
    Object.assign(ofPage, {
      checked: chosen > 0 && chosen === all.length,
      indeterminate: chosen > 0 && chosen < all.length,
    });
  const { total } = find("#select-all", bar).dataset;
  bar.classList.toggle("unseen", !size && !done.text);
  find("#undo", bar).hidden = !done.undo;
  find("#select-all", bar).hidden = !size || size >= total;
  for (const id of ["change-many", "delete-many", "select-none"]) find(`#${id}`, bar).hidden = !size;
  for (const id of ["change-many", "delete-many"]) find(`#${id}`, bar).disabled = size > MAX;
  const tooMany = size > 0 && Math.max(size, total) > MAX && `At most ${number(MAX)} at once`;
  say(bar, [done.text, size > 0 && `${count(size, "trade")} selected`, tooMany].filter(Boolean).join(" · "));
}

function say(bar, text) {
  const status = find("[role=status]", bar);
  if (status.textContent !== text) status.textContent = text;
}
