// Tags, setup and checklist of the open trade.

import { get } from "../client.js";
import { trying } from "../dialogs.js";
import { field, h, select } from "../dom.js";
import { edit } from "./editing.js";
import { tagKind } from "./tags.js";

const MANY = 12; // tags that are all buttons

const labelOf = ({ name, color, type }) => [
  h("span.dot", { style: { background: color }, "aria-hidden": "true" }),
  name,
  type === "mistake" && h("span", { title: "A mistake" }, " ✗"),
];

export const chip = (tag) => h("span.chip", labelOf(tag));

/** @param {Tag[]} tags */
export const tagNames = (tags) => (ids) =>
  tags
    .filter(({ id }) => ids.includes(id))
    .map(({ name }) => name)
    .join(", ");

// Buttons with a key each, of which one is pressed or none.
const markRow = (name, label, buttons) =>
  h(
    ".field",
    h(`span#${name}-label`, label),
    h(
      ".row.marks",
      { role: "group", "aria-labelledby": `${name}-label` },
      buttons.map(({ text, isPressed, onclick, ...more }, place) =>
        h(
          "button.mark",
          {
            id: `${name}-${place + 1}`,
            "aria-pressed": String(isPressed),
            title: `Key ${place + 1}`,
            onclick,
            ...more,
          },
          text,
        ),
      ),
    ),
  );

/** @param {string} name @param {string} label @param {Save} save */
export const marks = (name, label, values, thing, save) =>
  markRow(
    name,
    label,
    values.map((value) => ({
      text: value,
      [`data-${name}`]: value,
      isPressed: thing[name] === value,
      onclick: () => save((now) => ({ [name]: now[name] === value ? null : value })),
    })),
  );

// A row for each single category: another tag takes the place of the one that the trade has.
/** @param {{ tag_ids: number[] }} trade @param {Save} save */
export const singlesOf = (trade, singles, save) =>
  singles.map(({ id, name, tags }) => {
    const without = (ids) => ids.filter((one) => !tags.some((tag) => tag.id === one));
    const press = (tag) => () =>
      save(({ tag_ids: ids }) => ({
        tag_ids: ids.includes(tag.id) ? without(ids) : [...without(ids), tag.id],
      }));
    const button = (tag) => ({
      text: tag.name,
      isPressed: trade.tag_ids.includes(tag.id),
      onclick: press(tag),
    });
    return markRow(`category-${id}`, name, tags.map(button));
  });

// Of a trade, or of a day.
/** @param {{ tag_ids: number[] }} trade @param {Tag[]} tags @param {Save} save */
export function tagsOf(trade, tags, save) {
  const without = (ids, { id }) => ids.filter((one) => one !== id);
  const toggle = (tag) =>
    save(({ tag_ids: ids }) => ({
      tag_ids: ids.includes(tag.id) ? without(ids, tag) : [...ids, tag.id],
    }));
  const button = (tag) =>
    h(
      "button.chip",
      {
        id: `tag-${tag.id}`,
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
  const make = trying(async () => {
    const { data } = await get("/tag-categories");
    const after = async (_, tag) => {
      tags.push(tag);
      await toggle(tag);
    };
    await edit({ ...tagKind(data.tag_categories), after }, null, { redraw() {} });
  });
  return h(
    ".field",
    { role: "group", "aria-label": "Tags" },
    h("span", "Tags"),
    h("#tags.row", tags.filter(({ id }) => tags.length <= MANY || trade.tag_ids.includes(id)).map(button)),
    h("button#new-tag.link", { onclick: make }, "New tag…"),
    tags.length > MANY && [
      h("input#add-tag", {
        list: "tags-to-add",
        "aria-label": "Add a tag",
        placeholder: "Add a tag…",
        onchange: add,
      }),
      h(
        "datalist#tags-to-add",
        others.map(({ name }) => h("option", { value: name })),
      ),
    ],
  );
}

/** @param {Trade} trade @param {StrategyListItem[]} strategies @param {Strategy} strategy @param {Save} save */
export function setupOf(trade, strategies, strategy, recent, save) {
  const choice = (name, label, value, options) =>
    field(
      label,
      select(
        {
          id: `of-${name}`,
          value: value ?? "",
          onchange: ({ target }) => save(() => ({ [name]: target.value ? Number(target.value) : null })),
        },
        [["", "None"], ...options],
      ),
    );
  return h(
    ".row",
    choice(
      "strategy_id",
      "Strategy",
      trade.strategy_id,
      strategies.map(({ id, name }) => [id, name]),
    ),
    strategy &&
      choice(
        "setup_id",
        "Setup",
        trade.setup_id,
        strategy.setups.map(({ setup_id, name }) => [setup_id, name]),
      ),
    recent &&
      h(
        "button#last-setup.end-row",
        {
          onclick: () => save(() => ({ setup_id: recent.setup.setup_id })),
        },
        `${recent.strategy.name} › ${recent.setup.name}`,
      ),
  );
}

// A second press takes the answer back.
/** @param {Trade} trade @param {Strategy["setups"][0]} setup @param {Save} save */
export function checklist(trade, setup, save) {
  const known = new Map(trade.confirmations.map((answer) => [answer.confirmation_id, answer]));
  const answer = (id, was_present) =>
    save(({ confirmations }) => {
      const others = confirmations.filter((one) => one.confirmation_id !== id);
      const before = confirmations.find((one) => one.confirmation_id === id);
      const mine =
        before?.was_present === was_present
          ? []
          : [{ confirmation_id: id, was_present, notes: before?.notes ?? null }];
      return { confirmations: [...others, ...mine].map(({ name, ...rest }) => rest) };
    });
  const button = ({ confirmation_id: id, name }, value, word) =>
    h(
      "button",
      {
        id: `answer-${id}-${word}`,
        "aria-label": `${word}: ${name}`,
        "aria-pressed": String(known.get(id)?.was_present === value),
        onclick: () => answer(id, value),
      },
      value ? "✓ yes" : "✗ no",
    );
  const all = () =>
    save(() => ({
      confirmations: setup.confirmations.map(({ confirmation_id }) => ({
        confirmation_id,
        was_present: true,
      })),
    }));
  return h(
    "fieldset",
    h("legend", "Checklist"),
    setup.confirmations.length > 1 &&
      !trade.confirmations.length &&
      h("button#all-yes", { onclick: all }, "✓ all of them"),
    setup.confirmations.length === 0
      ? h("p.muted", "This setup has no confirmations.")
      : h(
          "ul.checklist",
          setup.confirmations.map((one) =>
            h(
              "li",
              h("span", { title: one.description }, one.name),
              h("span.answers", button(one, true, "yes"), button(one, false, "no")),
            ),
          ),
        ),
  );
}
