// Numbers, days and words for people, in the owner's locale.

const MINUS = "\u2212"; // as wide as a plus sign in tabular figures
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
export const amount = shown(AMOUNT); // 1,234.50
export const signed = shown(SIGNED); // +1,234.50
const rounded = shown(WHOLE),
  compact = shown(COMPACT);
// +1,235 or +1.2M: where there is no room for cents; an amount below 1 keeps them.
export const whole = (value) =>
  (Math.abs(value) >= 100_000 ? compact : value && Math.abs(value) < 0.5 ? signed : rounded)(value);
export const number = shown(NUMBER); // a quantity, or the price of a fill, with all its decimals
export const price = shown(PRICE); // of a position: an average may have many decimals
export const ratio = amount;
export const percent = (value) => (value == null ? NONE : `${typographic(PERCENT.format(value))}\u00a0%`);
export const rate = (value) => (value == null ? NONE : `${RATE.format(value)} %`); // in a column: 59.0 %
export const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;

// A metric's value by its unit: currency, percent, ratio, count.
const BY_UNIT = { currency: amount, percent, ratio, count: number };
export const valueOf = (unit, value) => (BY_UNIT[unit] ?? number)(value);

// The class of an amount; the sign says the same without colour. What rounds to 0.00 is neither.
export const gainOrLoss = (value) => (value >= 0.005 ? "gain" : value <= -0.005 ? "loss" : "");

// Why there is no amount, as a line of its own.
export const whyNone = (reason) =>
  reason === "mixed_currencies" ? "Several currencies: choose an account." : words(reason);

// Days are texts such as 2026-03-09; noon keeps them the same day in every time zone.
const noon = (day) => new Date(`${day}T12:00:00`);
// Days of the API are Gregorian, and so are those that are shown in every locale.
const gregorian = (options) => new Intl.DateTimeFormat(undefined, { calendar: "gregory", ...options });
const dates = (options) => {
  const format = gregorian(options);
  return (day) => format.format(noon(day));
};
// The year stands where it is not the year of now.
const withYear = (text) => (Number(text.slice(0, 4)) === new Date().getFullYear() ? {} : { year: "numeric" });
export const shortDay = dates({ day: "numeric", month: "short" });
export const dayOfYear = (day) => dates({ ...withYear(day), day: "numeric", month: "short" })(day);
export const longDay = dates({ weekday: "short", day: "numeric", month: "short", year: "numeric" });
export const monthOf = dates({ month: "long", year: "numeric" });
export const WEEKDAYS = [5, 6, 7, 8, 9, 10, 11].map((day) =>
  dates({ weekday: "short" })(`2026-01-${String(day).padStart(2, "0")}`),
); // Monday first

// 2026-03-09 plus days.
export function plusDays(day, days) {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

// An instant in the owner's time zone: Mar 9, 10:31; `more` may ask for seconds.
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

// The day that an instant is in that time zone, before any rollover.
export const dayIn = (timeZone, date = new Date()) =>
  new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }).format(
    date,
  );

// The name of an account in a list.
export const accountName = ({ name, archived }) => (archived ? `${name} (archived)` : name);

// net_pnl and no_trades for people.
export const words = (name) =>
  name
    .replaceAll("_", " ")
    .replace("pnl", "P&L")
    .replace("breakeven", "break-even")
    .replace(/^./, (first) => first.toUpperCase());

// The values of a closed list with their labels, for a <select>.
export const inWords = (list) => list.map((one) => [one, words(one)]);

// What the API says of worst_day and at_least, for people.
export const sentences = (list) => list.join(" ").replaceAll("_", " ");

// The trading day of now: from the rollover on it is the next day.
/** @param {Me} me */
export function tradingDay({ timezone, day_rollover: rollover }, now = new Date()) {
  const time = new Intl.DateTimeFormat("en-GB", {
    timeZone: timezone,
    hour: "2-digit",
    minute: "2-digit",
  }).format(now);
  return plusDays(dayIn(timezone, now), rollover !== "00:00" && time >= rollover ? 1 : 0);
}
