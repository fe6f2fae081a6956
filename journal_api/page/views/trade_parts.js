// @ts-check
// The parts of the open trade: facts, grades and tags.

import { h } from "../dom.js";
import { GRADES } from "../enums.js";
import { amount, instant, NONE, number, price, shortDay, signed } from "../format.js";

const MANY = 12; // tags that are all buttons; one of more is found by typing

const labelOf = ({ name, color, type }) => [
  h("span", { class: "dot", style: { background: color }, "aria-hidden": "true" }),
  name,
  type === "mistake" && h("span", { title: "A mistake" }, " ✗"),
];

// A tag; the colour is beside its name.
export const chip = (tag) => h("span", { class: "chip" }, labelOf(tag));

/** @param {Context} context @param {Trade} trade */
export function facts({ me, accounts }, trade) {
  const at = (text) => instant(text, me.timezone);
  const rows = [
    ["Opened", at(trade.opened_at)],
    ["Closed", at(trade.closed_at)],
    ["Entry", price(trade.entry_price)],
    ["Exit", price(trade.exit_price)],
    [
      "Quantity",
      trade.multiplier === 1
        ? number(trade.quantity)
        : `${number(trade.quantity)} × ${number(trade.multiplier)}`,
    ],
    ["Stop", number(trade.stop_loss)],
    ["Gross", signed(trade.gross_pnl)],
    ["Fees", trade.fees_source === "none" ? "none stated" : amount(trade.fees)],
    ["Initial risk", amount(trade.initial_risk)],
    ["R", signed(trade.rr_realized)],
    ["Account", accounts.find(({ id }) => id === trade.account_id)?.name],
    ["Trading day", trade.trading_day ? shortDay(trade.trading_day) : NONE],
  ];
  return h(
    "dl",
    { class: "facts" },
    rows.map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value))),
  );
}

/** @param {Trade} trade @param {(change: (now: Trade) => object) => void} save */
export const grades = (trade, save) =>
  h(
    "div",
    { class: "row", role: "group", "aria-labelledby": "grades" },
    GRADES.map((grade, place) =>
      h(
        "button",
        {
          type: "button",
          id: `grade-${place + 1}`,
          "data-grade": grade,
          "aria-pressed": String(trade.grade === grade),
          title: `Key ${place + 1}`,
          onclick: () => save((now) => ({ grade: now.grade === grade ? null : grade })),
        },
        grade,
      ),
    ),
  );

// Every tag is pressed or not.
/** @param {Trade} trade @param {Tag[]} tags @param {(change: (now: Trade) => object) => void} save */
export function tagsOf(trade, tags, save) {
  const without = (ids, { id }) => ids.filter((one) => one !== id);
  const toggle = (tag) =>
    save(({ tag_ids: ids }) => ({
      tag_ids: ids.includes(tag.id) ? without(ids, tag) : [...ids, tag.id],
    }));
  const button = (tag) =>
    h(
      "button",
      {
        type: "button",
        id: `tag-${tag.id}`,
        class: "chip",
        "aria-pressed": String(trade.tag_ids.includes(tag.id)),
        onclick: () => toggle(tag),
      },
      labelOf(tag),
    );
  const others = tags.filter(({ id }) => !trade.tag_ids.includes(id));
  const add = ({ target }) => {
    const tag = others.find(({ name }) => name.toLowerCase() === target.value.trim().toLowerCase());
    if (tag) toggle(tag);
  };
  return h(
    "div",
    { class: "field", role: "group", "aria-label": "Tags" },
    h("span", null, "Tags"),
    h("div", { class: "row", id: "tags" }, (tags.length > MANY ? trade.tags : tags).map(button)),
    !tags.length && h("a", { href: "#/settings" }, "Make tags in the settings"),
    tags.length > MANY && [
      h("input", {
        id: "add-tag",
        list: "tags-to-add",
        "aria-label": "Add a tag",
        placeholder: "Add a tag…",
        onchange: add,
      }),
      h(
        "datalist",
        { id: "tags-to-add" },
        others.map(({ name }) => h("option", { value: name })),
      ),
    ],
  );
}
