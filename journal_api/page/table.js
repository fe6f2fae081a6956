// A table that scrolls if it is too wide.

import { h } from "./dom.js";

// `rows` are lists of cells; `classes` are those of the columns, such as num. On a narrow screen, cells of a table of
// the class stacked have their heads beside them.
/** @param {any} attributes @param {any[]} heads @param {any[][]} rows @param {string[]} classes */
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
