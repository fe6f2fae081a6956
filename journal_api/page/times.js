// Fields of a time, in the owner's time zone and without seconds where there are none.

import { h } from "./dom.js";

// 2026-03-09T10:31:00, as the field of a browser has it, in the owner's time zone.
export const local = (text, timeZone) =>
  text &&
  new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium",
  })
    .format(new Date(text))
    .replace(" ", "T");

// A time without seconds, if they are 0: a field that shows none asks for none.
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
