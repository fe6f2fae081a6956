// Making, editing and deleting a thing of the API in a dialog.

import { get, send } from "../client.js";
import { confirm, open, showConflict, trying } from "../dialogs.js";
import { findAll, form, h, table } from "../dom.js";
import { words } from "../format.js";

const MANY = 20; // rows of a list that gets a filter

const textOf = (value) =>
  value && typeof value === "object"
    ? Object.entries(value)
        .map(([name, one]) => (Array.isArray(value) ? textOf(one) : `${words(name)} ${one}`))
        .join(", ")
    : String(value ?? "–");

export const differences = (wanted, stored) =>
  Object.entries(wanted)
    .filter(([name, value]) => textOf(value) !== textOf(stored[name]))
    .map(([name, value]) => [words(name), textOf(value), textOf(stored[name])]);

export async function edit(kind, id, context, preset = {}) {
  const { data, etag: first } = id ? await get(`${kind.path}/${id}`) : { data: { [kind.member]: preset } };
  const thing = data[kind.member];
  let written = id,
    etag = first;
  const done = async () => {
    dialog.close();
    await context.redraw();
  };
  const save = async (values, element) => {
    const typed = await kind.body(values, thing, element);
    const path = written ? `${kind.path}/${written}` : kind.path;
    const body = kind.settle ? await kind.settle(written ? "PATCH" : "POST", path, typed) : typed;
    try {
      const { data: answer } = await send(written ? "PATCH" : "POST", path, { body, etag });
      // If the rest fails, the next try continues.
      [written, etag] = [answer[kind.member].id, undefined];
      await kind.after?.(values, answer[kind.member], thing, context);
    } catch (error) {
      if (error.status !== 412) throw error;
      // What was agreed to is no more: the dialog begins anew with what is stored.
      if (kind.stale) {
        await done();
        return edit({ ...kind, notice: kind.stale, typed: { note: values.note } }, id, context);
      }
      const now = await get(`${kind.path}/${written}`);
      etag = now.etag;
      return showConflict(kind.title, differences(body, now.data[kind.member]), {
        keepMine: () => save(values, element),
        takeStored: done,
      });
    }
    await done();
  };
  const dialog = open(
    id ? `Edit ${kind.title}` : `New ${kind.title}`,
    form(
      { id: "edit" },
      save,
      kind.notice && h("p.warn", { role: "status" }, kind.notice),
      ...kind.fields({ ...thing, ...kind.typed }, context),
      h(
        ".title",
        h("button.primary", id ? "Save" : "Create"),
        id && h("button.danger", { onclick: () => remove(kind, thing, dialog, context) }, "Delete"),
      ),
    ),
  );
}

function remove(kind, thing, dialog, { redraw }) {
  confirm(`Delete ${kind.title} ${thing[kind.name ?? "name"]}?`, kind.loss, "Delete", async () => {
    await send("DELETE", `${kind.path}/${thing.id}`);
    dialog.close();
    await redraw();
  });
}

export function listCard(title, kind, context, heads, rows, classes = []) {
  const list = table(
    { class: "middle stacked" },
    heads,
    rows.map(({ id, name, cells }) => [
      h("button.link", { onclick: trying(() => edit(kind, id, context)) }, name),
      ...cells,
    ]),
    classes,
  );
  const choose = ({ target }) =>
    findAll("tbody tr", list).forEach((line) => {
      line.hidden = !line.textContent.toLowerCase().includes(target.value.toLowerCase());
    });
  return h(
    "section.card",
    { id: kind.section, "aria-label": title },
    h(
      ".title",
      h("h2", title),
      h(
        "button",
        { id: `new-${kind.member}`, onclick: trying(() => edit(kind, null, context)) },
        `New ${kind.title}`,
      ),
    ),
    rows.length > MANY &&
      h("input", {
        type: "search",
        id: `filter-${kind.section}`,
        placeholder: "Filter",
        "aria-label": `Filter ${title}`,
        oninput: choose,
      }),
    rows.length ? list : h("p.muted", kind.none),
  );
}
