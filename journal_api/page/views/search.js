// #/search: what the field in the bar finds.

import { get, href } from "../client.js";
import { find, findAll, h, isKey } from "../dom.js";
import { count, number } from "../format.js";
import { orRefused } from "./filters.js";

const LIMIT = 20;
const EXAMPLES = 'Words, "a phrase", -without, tag:FOMO, symbol:MNQ.';
const NAMES = {
  trades: "Trade",
  days: "Day",
  strategies: "Strategy",
  setups: "Setup",
  tags: "Tag",
  goals: "Goal",
};

// Where a path of the API is on the page.
const PLACES = {
  trades: (id) => href("trades", { id }),
  days: (id) => `#/day/${id}`,
  strategies: (id) => href("strategies", { id }),
  tags: (id) => href("trades", { tag_id: id }),
  goals: (id) => href("today", { goal: id }),
};

/** @param {Context} context */
export async function view({ query }) {
  const q = query.get("q") ?? "";
  const offset = Number(query.get("offset") ?? 0);
  const reading = q
    ? get("/search", { q, limit: LIMIT, offset })
    : Promise.resolve({ data: { results: [] } });
  const { data, meta, refused } = await orRefused(reading, { results: [] });
  const total = meta?.pagination?.total ?? 0;
  find("#search").q.value = q;
  const to = (place) => href("search", { q, offset: place || null });
  return [
    h(".title", h("h1", "Search"), q && !refused && h("p.muted", count(total, "result"))),
    refused ??
      (total
        ? h("section.card", h("ul.plain.results", data.results.map(resultOf)))
        : h(
            "section.card.empty",
            h("p", q ? "Nothing has these words." : "What do you look for?"),
            h("p", EXAMPLES),
          )),
    total > LIMIT &&
      h(
        ".row",
        h(
          "span.muted",
          `${number(Math.min(offset + 1, total))} to ${number(Math.min(offset + LIMIT, total))}`,
        ),
        offset > 0 && h("a#newer", { href: to(Math.max(offset - LIMIT, 0)) }, "‹ Back"),
        offset + LIMIT < total && h("a#older", { href: to(offset + LIMIT) }, "More ›"),
      ),
  ];
}

/** @param {SearchResult} result */
function resultOf({ resource, path, title, excerpt, marks }) {
  const [, kind, id] = path.match(/^\/v1\/(\w+)\/(.+)$/);
  return h(
    "li",
    h("a", { href: PLACES[kind](id) }, h("small", NAMES[resource]), " ", h("strong", title)),
    excerpt !== title && h("p.written", marked(excerpt, marks)),
  );
}

// The marks count code points, of which an emoji is one.
function marked(text, marks) {
  const points = [...text];
  const part = (start, end) => points.slice(start, end).join("");
  let from = 0;
  const parts = marks.map(({ start, end }) => {
    const before = part(from, start);
    from = end;
    return [before, h("mark", part(start, end))];
  });
  return [...parts, part(from)];
}

// Up and down go through the results, from the field and back to it.
function pressed(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const field = find("#search").q;
  if (!step || find("main").dataset.view !== "search" || !(isKey(event) || event.target === field)) return;
  event.preventDefault();
  const places = [field, ...findAll(".results a")];
  places[places.indexOf(document.activeElement) + step]?.focus();
}

document.addEventListener("keydown", pressed);
