// A report beside the range before it.

import { axis, scaleOf } from "../charts.js";
import { card, h } from "../dom.js";
import { plusDays, span, whole, whyNone } from "../format.js";
import { lineOf, side } from "./edges.js";
import { frame } from "./report_table.js";

const VERDICTS = {
  more: ["gain", "▲ Better than before"],
  less: ["loss", "▼ Worse than before"],
  not_shown: ["muted", "No difference shown"],
};

const isMonth = ({ from, to }) => from?.endsWith("-01") && to?.startsWith(from.slice(0, 7));

// Of a part of a month the month before, else as many days.
export function rangeBefore({ from, to }) {
  if (!from || !to || from > to) return null;
  const last = plusDays(from, -1);
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
  return { from: isMonth({ from, to }) ? `${last.slice(0, 8)}01` : plusDays(last, -days), to: last };
}

// Without a range, this month.
export const withBefore = (own, kept, today) => ({
  ...{ from: `${today.slice(0, 8)}01`, to: today },
  ...{ ...own, ...kept, beside: "before" },
});
export const nameBefore = (own) =>
  !own.from || isMonth(own) ? "and the month before" : "and as many days before";

export function besideCard({ title, report, groups, before }) {
  const rows = [...groups, { ...report.total, name: "All" }];
  const scale = scaleOf(rows.flatMap(({ difference: { low, high } }) => [low ?? 0, high ?? 0]));
  const cells = (group) => {
    const now = group.values ? group : group.present;
    const { verdict, reason } = group.difference;
    const [tone, text] = VERDICTS[verdict] ?? ["muted", whyNone(reason)];
    return [
      h("th.name", { scope: "row" }, group.name ?? `No ${title.toLowerCase()}`),
      side("Now", now.values),
      side("Before", group.before?.values ?? {}),
      lineOf(group.difference, scale),
      h("td.verdict", h("span", { class: tone }, text)),
    ];
  };
  const head = (name, kind) => h("th", { scope: "col", class: kind }, name);
  return card(
    `Beside ${span(before.from, before.to)}`,
    frame(
      title,
      [
        head("Now", "num"),
        head("Before", "num"),
        head("Difference and 95 % interval", "edge"),
        head("All lines together", "verdict"),
      ],
      rows.map(cells),
      [h("td", { colspan: "3" }), h("td", axis(scale, whole)), h("td")],
      "edges",
    ),
  );
}
