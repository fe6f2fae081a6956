// Elements, forms and dialogs. Text is always put in as text: nothing here parses markup.

import { refused } from "./client.js";
import { words } from "./format.js";

// Reasons of the API that name members of a body, in words for who sees fields.
const REASONS = {
  "requires closed_at": "Needs the time at which the trade closed",
  "is required without gross_pnl": "Write the exit price, or the gross P&L",
  "must not be before opened_at": "Must not be before the trade opened",
  "must be on or after custom_start": "Must not be before the first day",
  "must be an IANA time zone such as Europe/Berlin": "Name a city of the time zone, such as Berlin",
};
/**
 * The first such element.
 * @param {string} selector
 * @param {ParentNode} within
 * @returns {any}
 */
export const find = (selector, within = document) => within.querySelector(selector);

/**
 * @param {string} selector
 * @param {ParentNode} within
 * @returns {any[]}
 */
export const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];

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

// A <select>: `options` are pairs of a value and its label.
export const select = (attributes, options) =>
  h(
    "select",
    attributes,
    options.map(([value, label]) => h("option", { value }, label)),
  );

// A label, its control, and the place for an error of the member `name` of the request's body.
export const field = (label, control, hint) =>
  h(
    "label.field",
    h("span", label),
    control,
    hint && h("small", hint),
    h("small.error", { "data-field": control.name }),
  );

// A label with an input that has the member `name` of a thing.
export const textField = (label, name, thing, attributes = {}, hint) =>
  field(label, h("input", { name, value: thing[name] ?? "", ...attributes }), hint);

// Where the form of a control shows a reason about it, if it has such a place.
export const reasonOf = ({ form: element, name }) => element?.querySelector(`[data-field="${name}"]`);

// A form that calls `action` with its values (an object by name) and shows errors in the API's words. A reason goes as
// soon as its field is typed into: were it to go when the field is left, the button that leaves it would move away under
// the mouse, and the press would be lost.
export function form(attributes, action, ...children) {
  const message = h("p.error", { role: "alert" });
  const element = h("form", { ...attributes, novalidate: true }, ...children, message);
  element.addEventListener("input", ({ target }) => {
    const place = reasonOf(target);
    if (place) place.textContent = "";
  });
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (element.getAttribute("aria-busy") === "true") return; // a second press while the first is sent
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

// A day or time of which a part is missing has no value: without this it would be sent as empty.
function refuseIncomplete(element) {
  const incomplete = [...element.elements].filter((one) => one.validity?.badInput);
  if (incomplete.length)
    throw refused(Object.fromEntries(incomplete.map(({ name }) => [name, "Complete it, or clear it"])));
}

// Puts the reasons of an error beside the controls they are about, and everything else in `message`.
export function showError(element, message, error) {
  const reasons = reasonsOf(error);
  for (const place of element.querySelectorAll("[data-field]")) {
    place.textContent = reasons[place.dataset.field] ?? "";
    delete reasons[place.dataset.field];
  }
  message.textContent = !error ? "" : error.details?.fields ? inOneLine(reasons) : error.message;
}

// The reasons of an error by the name of the member.
const reasonsOf = (error) =>
  Object.fromEntries(
    Object.entries(error?.details?.fields ?? {}).map(([name, reason]) => [name, REASONS[reason] ?? reason]),
  );
const inOneLine = (reasons) =>
  Object.entries(reasons)
    .map(([name, reason]) => `${words(name)}: ${reason}.`)
    .join(" ");

// What an error says: the reason of each member, or else its message.
export const wordsOf = (error) => inOneLine(reasonsOf(error)) || error.message;

// Runs an action of a button; shows what went wrong in a dialog.
export const trying = (action) => async (event) => {
  const button = event?.currentTarget;
  if (button?.disabled) return;
  if (button) button.disabled = true;
  try {
    await action(event);
  } catch (error) {
    open("That did not work", h("p.error", wordsOf(error)));
  }
  if (button) button.disabled = false;
};

// Shows a modal dialog, which is removed when it closes; `close()` of the result closes it at once. Closing it by
// hand asks first if something was typed. Escape is a key here, because a browser lets no page cancel it twice.
export function open(title, ...children) {
  const leave = (event) => {
    if (!dialog.querySelector("form[data-changed]")) return event.type === "click" && dialog.close();
    event.preventDefault();
    confirm("Close without saving?", "What you typed is not saved.", "Discard it", () => dialog.close());
  };
  const close = h("button.quiet", { "aria-label": "Close", onclick: leave }, "✕");
  const dialog = h(
    "dialog",
    {
      "aria-label": title,
      onclose: () => dialog.remove(),
      oncancel: leave,
      onkeydown: (event) => event.key === "Escape" && leave(event),
    },
    h(".title", h("h2", title), close),
    ...children,
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// Asks before something is deleted; `action` runs when the owner agrees. What only adds is no danger.
export function confirm(title, text, verb, action, tone = "danger") {
  const dialog = open(
    title,
    form(
      null,
      async () => {
        await action();
        dialog.close();
      },
      h("p", text),
      h(".row", h("button", { class: tone }, verb), h("button", { onclick: () => dialog.close() }, "Cancel")),
    ),
  );
}
