// #/import

import { h } from "../dom.js";

export async function view() {
  return h("p", { class: "muted" }, "Nothing here yet.");
}
