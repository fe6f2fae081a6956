// Making, editing and deleting a thing of the API in a dialog.

import { get, send } from "../client.js";
import { confirm, form, h, open, trying } from "../dom.js";

// `kind` is {path, member, title, fields(thing, context), body(values, thing), loss}; `id` is null for a new thing.
export async function edit(kind, id, context, preset = {}) {
  const { data, etag } = id ? await get(`${kind.path}/${id}`) : { data: { [kind.member]: preset } };
  const thing = data[kind.member];
  const dialog = open(id ? `Edit ${kind.title}` : `New ${kind.title}`, form({ id: "edit" }, async (values, element) => {
    const body = kind.body(values, thing, element);
    const { data: written } = await send(id ? "PATCH" : "POST", id ? `${kind.path}/${id}` : kind.path, { body, etag });
    await kind.after?.(values, written[kind.member], element);
    dialog.close();
    await context.redraw();
  }, ...kind.fields(thing, context), h("div", { class: "title" }, h("button", { class: "primary" }, id ? "Save" : `Create`),
    id && h("button", { type: "button", class: "danger", onclick: () => remove(kind, thing, etag, dialog, context) }, "Delete"))));
}

function remove(kind, thing, etag, dialog, { redraw }) {
  confirm(`Delete ${kind.title} ${thing[kind.name ?? "name"]}?`, kind.loss, "Delete", async () => {
    await send("DELETE", `${kind.path}/${thing.id}`, { etag });
    dialog.close();
    await redraw();
  });
}

// A card with a table of things; each row has a button that edits it.
export function listCard(title, kind, context, heads, rows) {
  return h("section", { class: "card", id: kind.section, "aria-label": title },
    h("div", { class: "title" }, h("h2", null, title),
      h("button", { id: `new-${kind.member}`, onclick: trying(() => edit(kind, null, context)) }, `New ${kind.title}`)),
    rows.length > 0 && h("div", { class: "scroll" }, h("table", null,
      h("thead", null, h("tr", null, heads.map((head) => (head ? h("th", { scope: "col" }, head) : h("td"))))),
      h("tbody", null, rows.map(({ id, name, cells }) => h("tr", null,
        h("td", null, h("button", { class: "link", onclick: trying(() => edit(kind, id, context)) }, name)),
        cells.map((cell) => h("td", null, cell))))))),
    !rows.length && h("p", { class: "muted" }, kind.none));
}
