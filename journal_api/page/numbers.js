// Numbers as people type them, read by the owner's locale: 50,000 and 25,300.25, or 50.000 and 25.300,25.

import { refused } from "./client.js";
import { h, reasonOf } from "./dom.js";

const FORMAT = new Intl.NumberFormat(undefined, { maximumFractionDigits: 8, useGrouping: "always" });
const PARTS = FORMAT.formatToParts(1234567.5);
const sign = (type) => PARTS.find((part) => part.type === type)?.value ?? "";
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
// Whoever has no key for the sign of their locale types a space or an apostrophe.
const group = /\s/.test(sign("group"))
  ? "\\s"
  : /['’]/.test(sign("group"))
    ? "['’]"
    : escaped(sign("group")) || "(?!)";
const NUMBER = new RegExp(`^([+-]?)(\\d+(?:${group}\\d+)*)?(?:${escaped(sign("decimal"))}(\\d*))?$`);
const GROUPS = new RegExp(group);
const DIGITS = new Map(Array.from({ length: 10 }, (_, digit) => [FORMAT.format(digit), String(digit)]));
export const REASON = `Write a number such as ${FORMAT.format(1234567.5)}`;

// The number that a text says: null for an empty text, NaN for what is no number here.
export function parse(text) {
  const plain = text
    .trim()
    .replace(/[\u061c\u200e\u200f]/g, "")
    .replace(/^\u2212/, "-")
    .replace(/./gu, (one) => DIGITS.get(one) ?? one);
  if (!plain) return null;
  const [, minus, whole = "", decimals = ""] = plain.match(NUMBER) ?? [];
  const groups = whole.split(GROUPS);
  if (!(whole || decimals) || (groups.length > 1 && !isGrouped(groups))) return NaN;
  const number = Number(`${minus}${groups.join("")}.${decimals}`);
  return Number.isFinite(number) ? number : NaN;
}

// 1,00 is more likely a decimal comma than a hundred.
function isGrouped(groups) {
  const expected = FORMAT.formatToParts(BigInt(groups.join(""))).filter(({ type }) => type === "integer");
  return groups.map((one) => one.length).join() === expected.map(({ value }) => value.length).join();
}

// A stored number as it is typed.
export const write = (value) => (value == null || value === "" ? "" : FORMAT.format(value));

// An input for a number; once it is left, it says how the number was read, or why it was not.
/** @param {any} attributes */
export function numberInput({ value, ...attributes }) {
  const show = ({ target }) => {
    const number = parse(target.value);
    const place = reasonOf(target);
    if (!Number.isNaN(number)) target.value = write(number);
    else if (place) place.textContent = REASON;
  };
  return h("input", {
    inputmode: "decimal",
    autocomplete: "off",
    ...attributes,
    value: write(value),
    onchange: show,
  });
}

// The numbers of these fields of a form, null for an empty one.
export function numbersOf(values, names) {
  const numbers = Object.fromEntries(names.map((name) => [name, parse(values[name])]));
  const wrong = names.filter((name) => Number.isNaN(numbers[name]));
  if (wrong.length) throw refused(Object.fromEntries(wrong.map((name) => [name, REASON])));
  return numbers;
}
