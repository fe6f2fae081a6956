// Several files at hand: what each of them would do, one button for those that can be imported, and what comes next.

import { h, trying } from "../dom.js";
import * as format from "../format.js";
import { table } from "../table.js";
import { groupKind } from "./copy_groups.js";
import { edit } from "./editing.js";
import { importButton, isKnown, isReady, placeOf, tradesOf, whyNothing } from "./import_card.js";
import { without, works } from "./import_file.js";
import { isAsking } from "./import_options.js";

/** @param {Context} context */
export function importAll(context) {
  return h(
    "section.card",
    { "aria-label": "All files" },
    table(
      { class: "middle stacked" },
      ["File", "Account", "Trades", "Net P&L", ""],
      works.map((work) => cellsOf(work, context)),
      ["", "", "num", "num"],
    ),
    h(
      ".row",
      works.every((work) => work.report?.id)
        ? [h("a.button.primary", { href: "#/today" }, "Show Today"), copiesButton(context)]
        : importButton("import-all", context),
      h("button.quiet", { onclick: without(context) }, "Close all"),
    ),
  );
}

// Whose accounts have trades and no copy group is asked whether some copy another.
function copiesButton(context) {
  const members = context.accounts.map(({ id }) => ({ account_id: id, quantity_multiplier: 1 }));
  return (
    context.accounts.length > 1 &&
    !context.copyGroups.length &&
    h(
      "button#copies",
      { onclick: trying(() => edit(groupKind, null, context, { name: "Copies", members })) },
      "Some accounts copy another…",
    )
  );
}

function cellsOf(work, context) {
  const { file, report, isBusy } = work;
  const known = isKnown(work) && !isAsking(work);
  const total = known && (report.preview ?? work.shown)?.total;
  const state = isBusy
    ? "reading …"
    : report?.id
      ? h("span.gain", "✓ imported")
      : isReady(work)
        ? "ready"
        : h("span.warn", known ? whyNothing(report) : "needs an answer below");
  return [
    file.name,
    known && placeOf([work], context).replace(" into ", ""),
    known && format.number(tradesOf(report)),
    total && format.signed(total.net_pnl),
    state,
  ];
}
