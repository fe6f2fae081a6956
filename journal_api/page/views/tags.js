import { get, refused, send } from "../client.js";
import { checkbox, choiceField, field, h, select, textField } from "../dom.js";
import { TAG_TYPES } from "../enums.js";
import { idsAndNames, inWords, nameIn } from "../format.js";

export const categoryKind = {
  path: "/tag-categories",
  member: "tag_category",
  title: "tag category",
  section: "tag-categories",
  none: "No categories. Every tag is in one.",
  loss: "A category with tags cannot be deleted.",
  fields: (category) => [
    textField("Name", "name", category, { required: true }),
    checkbox("A trade has one of its tags at most: a row of buttons", {
      name: "single",
      checked: category.single,
    }),
    h("small.error", { "data-field": "single" }),
  ],
  body: ({ name, single }) => ({ name, single: Boolean(single) }),
};

// All tags, and apart from each other: those of single categories, by category, and the rest.
export async function readTags() {
  const [{ data }, categories] = await Promise.all([get("/tags"), get("/tag-categories")]);
  const singles = categories.data.tag_categories
    .filter(({ single }) => single)
    .map(({ id, name }) => ({ id, name, tags: data.tags.filter((tag) => tag.category_id === id) }));
  const rest = data.tags.filter((tag) => !singles.some(({ id }) => id === tag.category_id));
  return { tags: data.tags, rest, singles: singles.filter(({ tags }) => tags.length) };
}
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
    const choice = select({ name: "category_id", value: tag.category_id ?? categories[0]?.id ?? NEW }, [
      ...idsAndNames(categories),
      [NEW, "New category…"],
    ]);
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
        textField("Colour", "color", { color: "#3b82f6", ...tag }, { type: "color" }),
      ),
      h(
        ".row",
        field("Category", choice),
        added,
        choiceField(
          "Type",
          "type",
          tag.type ?? "custom",
          inWords(TAG_TYPES),
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

// A second try does not create it again.
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
      nameIn(categories, tag.category_id),
      tag.type,
      h("span.dot", { "aria-hidden": "true", style: { background: tag.color } }),
    ],
  }));
