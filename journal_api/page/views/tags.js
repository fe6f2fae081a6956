// Tags and their categories in the settings.

import { refused, send } from "../client.js";
import { field, h, select, textField } from "../dom.js";
import { TAG_TYPES } from "../enums.js";
import { inWords } from "../format.js";

export const categoryKind = {
  path: "/tag-categories",
  member: "tag_category",
  title: "tag category",
  section: "tag-categories",
  none: "No categories. Every tag is in one.",
  loss: "A category with tags cannot be deleted.",
  fields: (category) => [textField("Name", "name", category, { required: true })],
  body: ({ name }) => ({ name }),
};

// The last choice is a category that does not exist yet; it is created with the tag.
const NEW = "new";

/** @param {TagCategory[]} categories */
export const tagKind = (categories) => ({
  path: "/tags",
  member: "tag",
  title: "tag",
  section: "tags",
  none: "No tags.",
  loss: "It is removed from every trade.",
  fields(tag) {
    const choice = select(
      { name: "category_id", value: String(tag.category_id ?? categories[0]?.id ?? NEW) },
      [...categories.map((one) => [String(one.id), one.name]), [NEW, "New category…"]],
    );
    const added = textField("New category", "new_category", {});
    const show = () => {
      added.hidden = choice.value !== NEW;
    };
    choice.addEventListener("change", show);
    show();
    return [
      h(
        ".row",
        textField("Name", "name", tag, { required: true }),
        field("Colour", h("input", { type: "color", name: "color", value: tag.color ?? "#3b82f6" })),
      ),
      h(
        ".row",
        field("Category", choice),
        added,
        field(
          "Type",
          select({ name: "type", value: tag.type ?? "custom" }, inWords(TAG_TYPES)),
          "Mistakes count in mistake-free goals",
        ),
      ),
    ];
  },
  async body({ name, color, category_id, new_category, type }, tag, form) {
    const id =
      category_id === NEW ? await createCategory(new_category, form.elements.category_id) : category_id;
    return { name, color, category_id: Number(id), type };
  },
});

// Chooses the new category, so that a second try does not create it again.
async function createCategory(name, choice) {
  try {
    const { data } = await send("POST", "/tag-categories", { body: { name } });
    const id = String(data.tag_category.id);
    choice.prepend(h("option", { value: id }, name));
    choice.value = id;
    choice.dispatchEvent(new Event("change"));
    return id;
  } catch (error) {
    throw refused({ new_category: error.details?.fields?.name ?? error.message });
  }
}

/** @param {Tag[]} tags @param {TagCategory[]} categories */
export const tagRows = (tags, categories) =>
  tags.map((tag) => ({
    id: tag.id,
    name: tag.name,
    cells: [
      categories.find((one) => one.id === tag.category_id)?.name,
      tag.type,
      h("span.dot", { "aria-hidden": "true", style: { background: tag.color } }),
    ],
  }));
