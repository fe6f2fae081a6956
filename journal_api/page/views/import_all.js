// @ts-check
// Several files at hand: what each of them would do, and one button for those that can be imported.

import { h, trying } from "../dom.js";
import * as format from "../format.js";
import { isKnown, isReady, placeOf, tradesOf, whyNothing } from "./import_card.js";
import { without, works, write } from "./import_file.js";

/** @param {Context} context */
export function importAll(context) {
  const ready = works.filter(isReady);
  const isBusy = works.some((work) => work.isBusy);
  const trades = ready.reduce((sum, { report }) => sum + tradesOf(report), 0);
  const run = async () => {
    for (const work of ready) {
      if (!works.includes(work)) return; // its options have changed since
      if (!(await write(work, context.redraw))?.report?.id) return;
    }
  };
  const heads = ["File", "Account", "Trades", "Net P&L", ""];
  return h(
    "section",
    { class: "card", "aria-label": "All files" },
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "middle" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            heads.map((name, place) =>
              h("th", { scope: "col", class: /[23]/.test(String(place)) && "num" }, name),
            ),
          ),
        ),
        h(
          "tbody",
          null,
          works.map((work) => fileRow(work, context)),
        ),
      ),
    ),
    h(
      "div",
      { class: "row" },
      !works.every((work) => work.report?.id) &&
        h(
          "button",
          { id: "import-all", class: "primary", disabled: isBusy || !trades, onclick: trying(run) },
          trades
            ? `Import ${format.count(trades, "trade")} of ${format.count(ready.length, "file")}${placeOf(ready, context)}`
            : "Nothing to import",
        ),
      h("button", { class: "quiet", onclick: without(context) }, "Close all"),
    ),
  );
}

function fileRow(work, context) {
  const { file, report, isBusy } = work;
  const total = isKnown(work) && (report.preview ?? work.shown)?.total;
  const state = isBusy
    ? "reading …"
    : report?.id
      ? h("span", { class: "gain" }, "✓ imported")
      : isReady(work)
        ? "ready"
        : h("span", { class: "warn" }, isKnown(work) ? whyNothing(report) : "needs an answer below");
  return h(
    "tr",
    null,
    h("td", null, file.name),
    h("td", null, isKnown(work) && placeOf([work], context).replace(" into ", "")),
    h("td", { class: "num" }, isKnown(work) && format.number(tradesOf(report))),
    h("td", { class: "num" }, total && format.signed(total.net_pnl)),
    h("td", null, state),
  );
}
