// #/import

import { get } from "../client.js";
import { h, table } from "../dom.js";
import * as format from "../format.js";
import {
  copiesButton,
  fileCard,
  importButton,
  isKnown,
  isReady,
  placeOf,
  tradesOf,
  whyNothing,
} from "./import_card.js";
import { shiftQuestions, take, without, works } from "./import_file.js";
import { isAsking } from "./import_options.js";
import { ownProfiles } from "./import_profiles.js";
import { pastImports } from "./past_imports.js";
import { daysQuestion } from "./welcome.js";

/** @param {Context} context */
export async function view(context) {
  const [{ data }, profiles, question] = await Promise.all([
    get("/imports"),
    get("/import-profiles"),
    daysQuestion(context),
  ]);
  const own = profiles.data.import_profiles;
  return [
    h(
      ".title",
      h("h1", "Import"),
      h("a", { href: "/help/formats#brokers", target: "_blank" }, "Where do I find the file?"),
    ),
    question,
    dropZone(context),
    works.length > 1 && importAll(context),
    ...works.map((work) => fileCard(work, context, own)),
    data.imports.length > 0 && pastImports(data.imports, context, without(context)),
    own.length > 0 && ownProfiles(own, context),
  ];
}

function dropZone(context) {
  const input = h("input#file.unseen", {
    type: "file",
    multiple: true,
    accept: ".csv,.txt,.tsv,.xlsx,.htm,.html,.xml",
    onchange: () => input.files.length && take([...input.files], context),
  });
  const mark = (event) => {
    event.preventDefault();
    event.currentTarget.classList.toggle("over", event.type === "dragover");
  };
  const drop = (event) => {
    mark(event);
    const { files } = event.dataTransfer;
    if (files.length) take([...files], context);
  };
  return h(
    "label.card.drop",
    { for: "file", ondragover: mark, ondragleave: mark, ondrop: drop },
    h("strong", "Drop files here, or choose them"),
    input,
    h(
      "span.muted",
      "CSV, Excel, HTML or XML of your broker or platform. No trade is written before you import it.",
    ),
  );
}

/** @param {Context} context */
function importAll(context) {
  return h(
    "section.card",
    { "aria-label": "All files" },
    table(
      { class: "middle stacked" },
      ["File", "Account", "Trades", "Net P&L", ""],
      works.map((work) => cellsOf(work, context)),
      ["", "", "num", "num"],
    ),
    shiftQuestions(context),
    h(
      ".row",
      works.every((work) => work.report?.id)
        ? [h("a.button.primary", { href: "#/today" }, "Show Today"), copiesButton(context)]
        : importButton("import-all", context),
      h("button.quiet", { onclick: without(context) }, "Close all"),
    ),
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
        : h("span.warn", (known && whyNothing(report)) || "needs an answer below");
  return [
    file.name,
    known && placeOf([work], context).replace(" into ", ""),
    known && format.number(tradesOf(report)),
    total && format.signed(total.net_pnl),
    state,
  ];
}
