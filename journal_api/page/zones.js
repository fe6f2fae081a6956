// Time zones are found by city; a name that never changes to summer time is doubted.

import { field, h } from "./dom.js";

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
let lists = 0;

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
  const list = `zones-${++lists}`;
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
    list,
    autocomplete: "off",
    oninput: warn,
    onchange: find,
  });
  warn();
  return h(
    ".field",
    field(label, input, hint),
    warning,
    h(
      "datalist",
      { id: list },
      ZONES.map((zone) => h("option", { value: zone }, cityOf(zone))),
    ),
  );
}
