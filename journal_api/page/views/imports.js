// @ts-check
// #/import: files are read at once without writing anything; then they are imported, and can be undone.

import { get, send } from "../client.js";
import { field, form, h, trying } from "../dom.js";
import * as format from "../format.js";
import { numberInput, numbersOf } from "../numbers.js";
import { take, without, works } from "./import_file.js";
import { importAll } from "./import_all.js";
import { fileCard } from "./import_card.js";
import { helpButton } from "./import_help.js";
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
    h("div", { class: "title" }, h("h1", null, "Import"), helpButton()),
    question,
    context.accounts.length ? dropZone(context) : accountForm(context),
    works.length > 1 && importAll(context),
    ...works.map((work, place) => fileCard(work, place, context, own)),
    data.imports.length > 0 && pastImports(data.imports, context, without(context)),
    own.length > 0 && ownProfiles(own, context),
  ];
}

function accountForm({ redraw }) {
  return h(
    "section",
    { class: "card" },
    h("h2", null, "First, an account"),
    h("p", null, "Trades belong to an account of your broker, such as an evaluation or a simulation."),
    form(
      { class: "row" },
      async (values) => {
        const { starting_balance } = numbersOf(values, ["starting_balance"]);
        await send("POST", "/accounts", {
          body: { name: values.name, starting_balance: starting_balance ?? 0 },
        });
        await redraw();
      },
      field("Name", h("input", { name: "name", value: "Main", required: true })),
      field("Starting balance", numberInput({ name: "starting_balance", value: 0 })),
      h("button", { class: "primary" }, "Create the account"),
    ),
  );
}

function dropZone(context) {
  const input = h("input", {
    type: "file",
    id: "file",
    multiple: true,
    accept: ".csv,.txt,.tsv,.xlsx,.htm,.html,.xml",
    onchange: () => input.files.length && take([...input.files], context),
  });
  const zone = h(
    "label",
    { class: "card drop", for: "file" },
    h("strong", null, "Drop files here, or choose them"),
    input,
    h(
      "span",
      { class: "muted" },
      "CSV, Excel, HTML or XML of your broker or platform. No trade is written before you import it.",
    ),
  );
  const mark = (isOver) => (event) => {
    event.preventDefault();
    zone.classList.toggle("over", isOver);
  };
  zone.addEventListener("dragover", mark(true));
  zone.addEventListener("dragleave", mark(false));
  zone.addEventListener("drop", (event) => {
    mark(false)(event);
    const { files } = event.dataTransfer;
    if (files.length) take([...files], context);
  });
  return zone;
}
