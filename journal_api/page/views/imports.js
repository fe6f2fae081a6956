// #/import: files are read at once without writing anything; then they are imported, and can be undone.

import { get } from "../client.js";
import { h } from "../dom.js";
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
    h(".title", h("h1", "Import"), helpButton()),
    question,
    dropZone(context),
    works.length > 1 && importAll(context),
    ...works.map((work, place) => fileCard(work, place, context, own)),
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
  const zone = h(
    "label.card.drop",
    { for: "file" },
    h("strong", "Drop files here, or choose them"),
    input,
    h(
      "span.muted",
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
