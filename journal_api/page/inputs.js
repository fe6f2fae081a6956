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

// Time zones are found by city; a name that never changes to summer time is doubted.
export const here = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
const ZONES = [...Intl.supportedValuesOf("timeZone"), "UTC"];
// What a machine calls UTC is nobody's choice of days.
export const isUtc = (zone) => /^(Etc\/)?(UTC|UCT|GMT([+-]?0)?|Greenwich|Universal|Zulu)$/i.test(zone);
const plain = (text) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, " ");
export const cityOf = (zone) => zone.split("/").at(-1).replaceAll("_", " ");
const HOURS = {
  HST: -10,
  PST: -8,
  PDT: -8,
  MST: -7,
  MDT: -7,
  CST: -6,
  CDT: -6,
  EST: -5,
  EDT: -5,
  GMT: 0,
  BST: 0,
};
const CITIES = {
  "-10": "Pacific/Honolulu",
  "-8": "America/Los_Angeles",
  "-7": "America/Denver",
  "-6": "America/Chicago",
  "-5": "America/New_York",
  0: "Europe/London",
  1: "Europe/Berlin",
  2: "Europe/Athens",
};

// What is not clear stays as it is typed.
export function findZone(text) {
  const wanted = plain(text);
  if (!wanted) return "";
  const begun = ZONES.filter((zone) => plain(cityOf(zone)).startsWith(wanted));
  return (
    ZONES.find((zone) => plain(zone) === wanted) ??
    begun.find((zone) => plain(cityOf(zone)) === wanted) ??
    (begun.length === 1 ? begun[0] : text.trim())
  );
}

export function isZone(name) {
  try {
    return Boolean(new Intl.DateTimeFormat(undefined, { timeZone: name }));
  } catch {
    return false;
  }
}

// EST, Etc/GMT+5 or UTC-5; undefined for all that change.
function hoursOf(zone) {
  const [, etc, sign, hours] = zone.match(/^(Etc\/)?(?:GMT|UTC)?([+-])(\d{1,2})(?::?00)?$/i) ?? [];
  if (!sign) return HOURS[zone.toUpperCase()];
  return Number(`${(sign === "-") !== Boolean(etc) ? "-" : ""}${hours}`); // the signs of Etc are the other way round
}

export function zoneField(label, { value, ...attributes }, hint) {
  // One list for all fields: it is long, and they are drawn often.
  if (!document.getElementById("zones"))
    document.body.append(
      h(
        "datalist#zones",
        ZONES.map((zone) => h("option", { value: zone }, cityOf(zone))),
      ),
    );
  const warning = h("small.warn", { "aria-live": "polite" });
  const warn = () => {
    const zone = findZone(input.value);
    const hours = hoursOf(zone);
    const meant = CITIES[hours];
    const take = () => {
      input.value = meant;
      warn();
      input.dispatchEvent(new Event("change", { bubbles: true }));
    };
    warning.replaceChildren(
      ...(hours === undefined
        ? []
        : [
            `${zone} never changes to summer time; `,
            ...(meant
              ? ["did you mean ", h("button.link", { onclick: take }, meant), "?"]
              : ["name a city instead."]),
          ]),
    );
  };
  const find = () => {
    const zone = findZone(input.value);
    if (zone === input.value) return; // the button of the warning can still be pressed
    input.value = zone;
    warn();
  };
  // It comes and goes while typed, not when the field is left, as reasons do (dom.js).
  const input = h("input", {
    ...attributes,
    value: value ?? "",
    list: "zones",
    autocomplete: "off",
    oninput: warn,
    onchange: find,
  });
  warn();
  return h(".field", field(label, input, hint), warning);
}
