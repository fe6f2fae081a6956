// Elements, forms and tables. Text is always put in as text: nothing here parses markup.

import { refused } from "./client.js";
import { gainOrLoss, signed, words } from "./format.js";

// Reasons of the API for who sees fields.
const REASONS = {
  "requires closed_at": "Needs the time at which the trade closed",
  "is required without gross_pnl": "Write the exit price, or the gross P&L",
  "must not be before opened_at": "Must not be before the trade opened",
  "must be on or after custom_start": "Must not be before the first day",
  "must be an IANA time zone such as Europe/Berlin": "Name a city of the time zone, such as Berlin",
};

/** @returns {any} */
export const find = (selector, within = /** @type {ParentNode} */ (document)) =>
  within.querySelector(selector);

/** @returns {any[]} */
export const findAll = (selector, within = /** @type {ParentNode} */ (document)) => [
  ...within.querySelectorAll(selector),
];

export const isTyping = ({ target }) =>
  target.closest("input:not([type=checkbox]), select, textarea, dialog") != null;
// A key by itself is a command of the view.
export const isKey = (event) =>
  !(isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || find("dialog[open]"));

let touched = -1000; // when
for (const type of ["keydown", "pointerdown", "input"])
  addEventListener(type, ({ timeStamp }) => (touched = timeStamp), true);
// Nothing is drawn over for a second after a key or a press.
export const isTouched = () => performance.now() - touched < 1000;

// A press is lost if its button is replaced before it ends.
export async function released() {
  while (find(":active") && isTouched()) await new Promise(requestAnimationFrame);
}

// Else a year is typed with six digits, and what follows it is lost.
const LAST = { date: "9999-12-31", "datetime-local": "9999-12-31T23:59:59" };
const SVG = "http://www.w3.org/2000/svg";

// h("button#save.primary", {onclick: save}, "Save"): the tag (div if it is left out), its id and classes, then perhaps
// attributes, then children. An attribute that is false, null or undefined is left out; `style` is an object of CSS
// properties; a button with an action of its own does not submit its form. "svg:rect" makes an element of SVG.
export function h(selector, ...parts) {
  const [, tag, id, classes] = selector.match(/^([\w:]*)#?([\w-]*)([.\w-]*)$/);
  const element = tag.startsWith("svg:")
    ? document.createElementNS(SVG, tag.slice(4))
    : document.createElement(tag || "div");
  const attributes = parts[0]?.constructor === Object ? parts.shift() : {};
  if (id) element.id = id;
  if (classes) element.setAttribute("class", classes.replaceAll(".", " ").trim());
  if (tag === "button" && attributes.onclick) element.type = "button";
  if (attributes.type in LAST) element.max = LAST[attributes.type];
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value == null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style")
      for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (name === "class") element.classList.add(...value.split(" ").filter(Boolean));
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...parts.flat(Infinity).filter((child) => child != null && child !== false));
  if (tag === "select" && attributes.value != null) element.value = attributes.value;
  return element;
}

export const select = (attributes, options) =>
  h(
    "select",
    attributes,
    options.map(([value, label]) => h("option", { value }, label)),
  );

export const field = (label, control, hint) =>
  h(
    "label.field",
    h("span", label),
    control,
    hint && h("small", hint),
    h("small.error", { "data-field": control.name }),
  );
export const textField = (label, name, thing, attributes = {}, hint) =>
  field(label, h("input", { name, value: thing[name] ?? "", ...attributes }), hint);
export const choiceField = (label, name, value, options, hint) =>
  field(label, select({ name, value }, options), hint);

export const checkbox = (label, attributes) =>
  h("label.check", h("input", { type: "checkbox", ...attributes }), label);

export function card(title, ...parts) {
  const attributes = parts[0]?.constructor === Object ? parts.shift() : {};
  return h("section.card", { "aria-label": title, ...attributes }, h("h2", title), parts);
}

// To what is before or after.
export const step = (id, label, text, href) =>
  h("a.button.quiet", { id, "aria-label": label, title: label, href }, text);

export const money = (value, shown = signed) => h("span", { class: gainOrLoss(value) }, shown(value));

export const definitions = (selector, rows) =>
  h(
    selector,
    rows.map(([term, value, tone]) => h("div", h("dt", term), h("dd", { class: tone }, value))),
  );

export const withKeys = (text) => text.split("`").map((one, place) => (place % 2 ? h("kbd", one) : one));

export const reasonOf = ({ form: element, name }) => element?.querySelector(`[data-field="${name}"]`);

// A form that calls `action` with its values and shows errors in the API's words. A reason goes as soon as its field is
// typed into: were it to go when the field is left, the button would move away under the mouse, and the press be lost.
export function form(attributes, action, ...children) {
  const message = h("p.error", { role: "alert" });
  const element = h("form", { ...attributes, novalidate: true }, ...children, message);
  element.addEventListener("input", ({ target }) => {
    const place = reasonOf(target);
    if (!place) return;
    place.textContent = "";
    target.ariaInvalid = null;
  });
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (element.getAttribute("aria-busy") === "true") return; // a second press
    showError(element, message);
    element.setAttribute("aria-busy", "true");
    try {
      refuseIncomplete(element);
      await action(Object.fromEntries(new FormData(element)), element);
      delete element.dataset.changed;
    } catch (error) {
      showError(element, message, error);
    }
    element.removeAttribute("aria-busy");
  });
  return element;
}

// Else a day or time of which a part is missing would be sent as empty.
function refuseIncomplete(element) {
  const incomplete = [...element.elements].filter((one) => one.validity?.badInput);
  if (incomplete.length)
    throw refused(Object.fromEntries(incomplete.map(({ name }) => [name, "Complete it, or clear it"])));
}

// Puts reasons beside the controls they are about, and everything else in `message`.
export function showError(element, message, error) {
  const reasons = reasonsOf(error);
  const wrong = [];
  for (const place of element.querySelectorAll("[data-field]")) {
    const name = place.dataset.field;
    const control = element.elements[name];
    place.textContent = reasons[name] ?? "";
    if (control?.matches) control.ariaInvalid = name in reasons ? "true" : null;
    if (name in reasons && control?.focus) wrong.push(control);
    delete reasons[name];
  }
  wrong[0]?.focus();
  message.textContent = !error
    ? ""
    : error.details?.fields
      ? inOneLine(reasons) || "Correct what is marked."
      : error.message;
}
const reasonsOf = (error) =>
  Object.fromEntries(
    Object.entries(error?.details?.fields ?? {}).map(([name, reason]) => [name, REASONS[reason] ?? reason]),
  );
const inOneLine = (reasons) =>
  Object.entries(reasons)
    .map(([name, reason]) => `${words(name)}: ${reason}.`)
    .join(" ");
export const wordsOf = (error) => inOneLine(reasonsOf(error)) || error.message;

export function table(attributes, heads, rows, classes = []) {
  const cell = (child, place) =>
    child?.tagName === "TH"
      ? child
      : h("td", { class: classes[place], "data-label": (place && heads[place]) || null }, child);
  const head = (name, place) =>
    name ? h("th", { scope: "col", class: classes[place] === "num" && "num" }, name) : h("td");
  return h(
    ".scroll",
    h(
      "table",
      attributes,
      heads.length > 0 && h("thead", h("tr", heads.map(head))),
      h(
        "tbody",
        rows.map((cells) => h("tr", cells.map(cell))),
      ),
    ),
  );
}
