// Numbers, days and words for people, in the owner's locale.

const MINUS = "\u2212"; // as wide as a plus sign
const typographic = (text) => text.replace("-", MINUS);
const formatter = (options) => new Intl.NumberFormat(undefined, options);
const CENTS = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
const AMOUNT = formatter(CENTS);
const SIGNED = formatter({ ...CENTS, signDisplay: "exceptZero" });
const WHOLE = formatter({ maximumFractionDigits: 0, signDisplay: "exceptZero" });
const COMPACT = formatter({ notation: "compact", maximumFractionDigits: 1, signDisplay: "exceptZero" });
const NUMBER = formatter({ maximumFractionDigits: 8 });
const PRICE = formatter({ maximumSignificantDigits: 9 });
const PERCENT = formatter({ maximumFractionDigits: 1 });
const RATE = formatter({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
export const NONE = "–";

const shown = (format) => (value) => (value == null ? NONE : typographic(format.format(value)));
export const amount = shown(AMOUNT);
export const signed = shown(SIGNED); // +1,234.50
const rounded = shown(WHOLE),
  compact = shown(COMPACT);
// +1,235 or +1.2M: where there is no room for cents; an amount below 1 keeps them.
export const whole = (value) =>
  (Math.abs(value) >= 100_000 ? compact : value && Math.abs(value) < 0.5 ? signed : rounded)(value);
export const number = shown(NUMBER);
export const price = shown(PRICE); // an average may have many decimals
export const ratio = amount;
export const percent = (value) => (value == null ? NONE : `${typographic(PERCENT.format(value))}\u00a0%`);
export const rate = (value) => (value == null ? NONE : `${RATE.format(value)} %`); // in a column: 59.0 %
export const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;
const BY_UNIT = { currency: amount, percent, ratio, count: number };
export const valueOf = (unit, value) => (BY_UNIT[unit] ?? number)(value);

// What rounds to 0.00 is neither.
export const gainOrLoss = (value) => (value >= 0.005 ? "gain" : value <= -0.005 ? "loss" : "");
export const whyNone = (reason) =>
  ({
    mixed_currencies: "Several currencies: choose an account.",
    out_of_range: "The amounts are too large to add.",
  })[reason] ?? words(reason);

// Noon is the same day in every time zone.
const noon = (day) => new Date(`${day}T12:00:00`);
const gregorian = (options) => new Intl.DateTimeFormat(undefined, { calendar: "gregory", ...options });
const dates = (options) => {
  const format = gregorian(options);
  return (day) => format.format(noon(day));
};
const withYear = (text) => (Number(text.slice(0, 4)) === new Date().getFullYear() ? {} : { year: "numeric" });
export const shortDay = dates({ day: "numeric", month: "short" });
export const dayOfYear = (day) => dates({ ...withYear(day), day: "numeric", month: "short" })(day);
export const span = (start, end) => [...new Set([start, end])].filter(Boolean).map(dayOfYear).join(" – ");
export const longDay = dates({ weekday: "short", day: "numeric", month: "short", year: "numeric" });
export const monthOf = dates({ month: "long", year: "numeric" });
export const WEEKDAYS = [5, 6, 7, 8, 9, 10, 11].map((day) =>
  dates({ weekday: "short" })(`2026-01-${String(day).padStart(2, "0")}`),
); // Monday first

export function plusDays(day, days) {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

export const weekdayOf = (day) => new Date(`${day}T12:00:00Z`).getUTCDay() || 7; // 1 is Monday
export function weekOf(day) {
  const from = plusDays(day, 1 - weekdayOf(day));
  return { from, to: plusDays(from, 6) };
}
export function monthSpan(month) {
  const next = plusDays(`${month}-28`, 4).slice(0, 7);
  return { from: `${month}-01`, to: plusDays(`${next}-01`, -1) };
}

export const instant = (text, timeZone, more = {}) =>
  text == null
    ? NONE
    : gregorian({
        timeZone,
        ...withYear(text),
        day: "numeric",
        month: "short",
        hour: "2-digit",
        minute: "2-digit",
        hourCycle: "h23",
        ...more,
      }).format(new Date(text));

export const dayIn = (timeZone, date = new Date()) =>
  new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }).format(
    date,
  );
export function clock(timeZone) {
  const format = new Intl.DateTimeFormat(undefined, {
    timeZone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return (time) => format.format(new Date(time));
}
export const nameIn = (list, id) => list.find((one) => one.id === id)?.name;

export const idsAndNames = (list) => list.map(({ id, name }) => [id, name]);

export const accountName = ({ name, archived }) => (archived ? `${name} (archived)` : name);
// account_3 and group_4, as the API and a <select> have them.
export function scopeOf(text) {
  const [kind, id] = text.split("_");
  return { account: { account_id: Number(id) }, group: { copy_group_id: Number(id) } }[kind] ?? {};
}

export const scopeOptions = ({ accounts, copyGroups }) => [
  ...accounts.map((one) => [`account_${one.id}`, accountName(one)]),
  ...copyGroups.map((one) => [`group_${one.id}`, `${one.name} (group)`]),
];

export const words = (name) =>
  name
    .replaceAll("_", " ")
    .replace("pnl", "P&L")
    .replace("breakeven", "break-even")
    .replace(/^./, (first) => first.toUpperCase());
export const inWords = (list) => list.map((one) => [one, words(one)]);
export const sentences = (list) => list.join(" ").replaceAll("_", " ");

/** @param {Me} me */
export function tradingDay({ timezone, day_rollover: rollover }, now = new Date()) {
  const time = new Intl.DateTimeFormat("en-GB", {
    timeZone: timezone,
    hour: "2-digit",
    minute: "2-digit",
  }).format(now);
  return plusDays(dayIn(timezone, now), rollover !== "00:00" && time >= rollover ? 1 : 0);
}
