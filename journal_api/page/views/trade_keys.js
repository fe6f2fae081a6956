// The keys of the trades: to move, to open, to grade, to close.

import { find, findAll, h } from "../dom.js";
import { GRADES } from "../enums.js";

export const keys = () =>
  h(
    "p.muted.keys",
    h("kbd", "j"),
    " ",
    h("kbd", "k"),
    " move · ",
    h("kbd", "Enter"),
    " open · ",
    h("kbd", "1"),
    "–",
    h("kbd", "6"),
    " grade A+ to F · ",
    h("kbd", "Esc"),
    " close",
  );

// j and k move in the list, and along with an open trade; 1 to 6 grade the open trade; Escape closes it.
function pressed(event) {
  const list = document.getElementById("trades");
  const isTyping = event.target.closest("input:not([type=checkbox]), select, textarea, dialog");
  if (list && isTyping && event.key === "Escape" && !event.target.closest("dialog")) event.target.blur();
  if (
    !list ||
    isTyping ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    document.querySelector("dialog[open]")
  )
    return;
  const panel = document.getElementById("trade");
  const links = findAll("tbody a", list);
  const place = (selector) => links.findIndex((link) => link.closest("tr").matches(selector));
  const here = place(":focus-within") < 0 ? place("[aria-current]") : place(":focus-within");
  const step = { j: 1, k: -1 }[event.key];
  const grade = GRADES[Number(event.key) - 1];
  if (step) {
    const link = links[here < 0 ? 0 : here + step];
    link?.focus();
    link?.scrollIntoView({ block: "nearest" });
    if (link && panel) location.replace(link.href);
  } else if (grade) isOfAddress(panel) && find(`[data-grade="${grade}"]`, panel).click();
  else if (event.key === "Escape" && panel) {
    links[here]?.focus();
    find(".close", panel).click();
  } else return;
  event.preventDefault();
}

// While the next trade is read, the panel is still that of the last.
const isOfAddress = (panel) =>
  panel?.dataset.id && panel.dataset.id === new URLSearchParams(location.hash.split("?")[1]).get("id");

document.addEventListener("keydown", pressed);
