// A list whose items are put in another order by dragging, or with Alt and an arrow.

import { find, h } from "../dom.js";

export const itemsIn = (parent) => [...find(":scope > .items, :scope > .nested > .items", parent).children];

export function list(label, verb, itemOf, values) {
  const add = (above) => {
    const item = row(itemOf(), add);
    if (above) above.after(item);
    else items.append(item);
    find("input", item).focus();
    touched(item);
  };
  const items = h(
    "ol.items",
    { "aria-label": label },
    values.map((value) => row(itemOf(value), add)),
  );
  return h(".nested", items, h("button.quiet.add", { onclick: () => add() }, `+ ${verb}`));
}

function row({ id, name, controls, below }, add) {
  const handle = h("span.handle", { "aria-hidden": "true", onpointerdown: drag }, "⠿");
  const remove = h(
    "button.quiet",
    {
      "aria-label": `Remove ${name ?? "this row"}`,
      onclick: () => leave(item),
    },
    "✕",
  );
  const item = h(
    "li",
    { "data-id": id, onkeydown: (event) => pressed(event, add) },
    h(".item", handle, controls, remove),
    below,
  );
  return item;
}

const nameOf = (item) => find("input", item).value || "The new row";

function touched(item, message = "") {
  const form = item.closest("form");
  if (!form) return;
  form.dataset.changed = "";
  find("#moved", form).textContent = message;
}

function leave(item) {
  const next = item.nextElementSibling ?? item.previousElementSibling;
  const focus = (next && find("input", next)) ?? item.parentElement.nextElementSibling;
  touched(item, `${nameOf(item)} is removed when you save.`);
  item.remove();
  focus?.focus();
}

function pressed(event, add) {
  const item = event.currentTarget;
  if (event.key === "Enter" && event.target.tagName === "INPUT") {
    event.preventDefault();
    event.stopPropagation();
    return add(item);
  }
  const isUp = event.key === "ArrowUp";
  if (!event.altKey || (!isUp && event.key !== "ArrowDown")) return;
  event.preventDefault();
  event.stopPropagation(); // a confirmation moves, its setup does not
  const other = isUp ? item.previousElementSibling : item.nextElementSibling;
  const focused = /** @type {any} */ (document.activeElement);
  if (isUp) other?.before(item);
  else other?.after(item);
  focused.focus();
  const places = [...item.parentElement.children];
  touched(item, `${nameOf(item)}: ${places.indexOf(item) + 1} of ${places.length}`);
}

function drag(event) {
  const item = event.currentTarget.closest("li");
  const ending = new AbortController();
  const listen = (name, action) => document.addEventListener(name, action, { signal: ending.signal });
  const end = () => {
    ending.abort();
    item.classList.remove("dragged");
    touched(item, `${nameOf(item)} moved`);
  };
  event.preventDefault();
  item.classList.add("dragged");
  listen("pointerup", end);
  listen("pointercancel", end);
  listen("pointermove", ({ clientY }) => {
    const others = [...item.parentElement.children].filter((one) => one !== item);
    const next = others.find((one) => {
      const { top, height } = one.getBoundingClientRect();
      return clientY < top + height / 2;
    });
    if ((next ?? null) !== item.nextElementSibling) item.parentElement.insertBefore(item, next ?? null);
  });
}
