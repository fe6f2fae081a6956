// Fields of numbers and times. Numbers are typed as the locale has them: 25,300.25 or 25.300,25.

import { refused } from "./client.js";
import { field, h, reasonOf } from "./dom.js";

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

// null for an empty text, NaN for what is no number here.
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

export const write = (value) => (value == null || value === "" ? "" : FORMAT.format(value));

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

export const numberField = (label, name, value, hint, attributes) =>
  field(label, numberInput({ name, value, ...attributes }), hint);

export function numbersOf(values, names) {
  const numbers = Object.fromEntries(names.map((name) => [name, parse(values[name])]));
  const wrong = names.filter((name) => Number.isNaN(numbers[name]));
  if (wrong.length) throw refused(Object.fromEntries(wrong.map((name) => [name, REASON])));
  return numbers;
}

export const local = (text, timeZone) =>
  text &&
  new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium",
  })
    .format(new Date(text))
    .replace(" ", "T");
export const inMinutes = (text) => text.replace(/(:\d\d):00$/, "$1");

export function timeInput(name, text, timeZone) {
  const value = local(text, timeZone) ?? "";
  return h("input", {
    name,
    type: "datetime-local",
    step: !/(^|:00)$/.test(value) && "1",
    value: inMinutes(value),
  });
}

// The time that a clock of one zone shows, on a clock of another.
export function inZone(text, from, to) {
  if (!text || from === to) return text;
  const offset = (at) => Date.parse(`${local(at, from)}Z`) - Math.floor(at / 1000) * 1000;
  const wanted = Date.parse(`${text}Z`);
  return inMinutes(local(wanted - offset(wanted - offset(wanted)), to));
}

export const now = (timeZone) => inMinutes(local(new Date().setSeconds(0, 0), timeZone));
