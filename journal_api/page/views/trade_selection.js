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
/** @type {{ text?: string, undo?: (undone: (kept: number) => any) => Promise<any> }} */
let done = {};
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

/** @param {Context} context */
export function selectionBar(context, lists, filters, total) {
  if (filter !== JSON.stringify(filters)) selected.clear();
  filter = JSON.stringify(filters);
  const finish = async (text, undo) => {
    clearTimeout(timer);
    done = { text, undo };
    timer = setTimeout(() => {
      done = {};
      show();
    }, UNDO_FOR);
    await context.redraw();
  };
  const undo = () =>
    done.undo((kept) =>
      finish(kept ? `Undone, but for ${count(kept, "trade")} that changed in the meantime` : "Undone"),
    );
  const all = async () => {
    for (const { id } of await tradesOf(whereOf(filters))) selected.add(id);
    show();
  };
  const deleted = (text) => {
    selected.clear();
    return finish(text);
  };
  const button = (id, text, action, attributes = {}) =>
    h("button", { id, onclick: trying(action), ...attributes }, text);
  requestAnimationFrame(show);
  return h(
    "section#selected.card.title.unseen",
    { "aria-label": "Selected trades", "data-total": total },
    h("p", { role: "status" }),
    h(
      ".row",
      button("undo", "Undo", undo),
      button("select-all", `Select all ${number(total)}`, all, { disabled: total > MAX }),
      button("change-many", "Change…", () => changeMany(context, lists, [...selected], finish), {
        class: "primary",
      }),
      button("delete-many", "Delete…", () => deleteMany([...selected], deleted), { class: "danger" }),
      button("select-none", "Clear", clear),
    ),
  );
}

const whereOf = (filters) =>
  Object.fromEntries(
    Object.entries(filters)
      .filter(([, value]) => value != null)
      .map(([name, value]) => [
        name,
        name.endsWith("_id") ? Number(value) : name === "copies" ? value === "true" : value,
      ]),
  );

function show() {
  const bar = find("#selected");
  if (!bar) return;
  const { size } = selected;
  const { total } = bar.dataset;
  const all = boxes();
  for (const one of all) one.checked = selected.has(Number(one.value));
  const chosen = all.filter(({ checked }) => checked).length;
  if (all.length)
    Object.assign(find("#select-page"), {
      checked: chosen === all.length,
      indeterminate: chosen > 0 && chosen < all.length,
    });
  bar.classList.toggle("unseen", !size && !done.text);
  for (const button of findAll("button", bar)) {
    button.hidden =
      button.id === "undo" ? !done.undo : !size || (button.id === "select-all" && size >= total);
    if (button.id.endsWith("many")) button.disabled = size > MAX;
  }
  const text = [
    done.text,
    size > 0 && `${count(size, "trade")} selected`,
    size > 0 && Math.max(size, total) > MAX && `At most ${number(MAX)} at once`,
  ];
  find("p", bar).textContent = text.filter(Boolean).join(" · ");
}
