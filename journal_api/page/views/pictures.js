// The pictures of a trade or a day: pasted, dropped or chosen, and shown.

import { blob, get, send } from "../client.js";
import { confirm, open, saveTexts, trying } from "../dialogs.js";
import { find, findAll, h, isTyping, released, wordsOf } from "../dom.js";
import { renew, saver, textForm } from "./saver.js";

// Of the trade or day that is shown: what is being added, what was refused, and the images, which outlive a redraw.
let strip = stripOf("");

// What was read before the first drawing is newer than what that was read from: `early`.
function stripOf(path) {
  const own = {
    path,
    busy: "",
    errors: [],
    images: new Map(),
    queue: Promise.resolve(),
    early: undefined,
    /** @returns {any} */
    draw(now) {
      own.early = now;
    },
  };
  return own;
}

// Nothing if the journal is away: what is drawn stays.
const read = (path) =>
  get(path).then(
    (answer) => renew(path, answer),
    () => undefined,
  );

// What draws it may be another when the response is there.
async function readAgain(one) {
  const pictures = await read(one.path);
  one.draw(pictures);
}

/** @param {Picture[]} pictures */
export function pictureStrip(path, pictures) {
  if (strip.path !== path) strip = stripOf(path);
  const list = h("ul.thumbs");
  const status = h("p.muted.small", { role: "status" });
  const errors = h("p.error", { role: "alert" });
  const choose = ({ target }) => {
    add([...target.files]);
    target.value = "";
  };
  strip.draw = async (now) => {
    if (now) pictures = now;
    await released();
    const focused = list.contains(document.activeElement) && document.activeElement.id;
    list.replaceChildren(...pictures.map((one, place) => thumb(path, pictures, one, place)));
    if (focused) document.getElementById(focused)?.focus();
    status.textContent = strip.busy;
    errors.textContent = strip.errors.join(" ");
  };
  strip.draw(strip.early);
  strip.early = undefined;
  return h(
    "section#pictures.field",
    { "aria-label": "Pictures" },
    h("span", "Pictures"),
    list,
    h(
      ".row",
      h(
        "label.button",
        h("input#add-picture.unseen", { type: "file", accept: "image/*", multiple: true, onchange: choose }),
        "Add pictures",
      ),
      h("small", "or paste or drop them anywhere on this page"),
    ),
    status,
    errors,
  );
}

/** @param {Picture} picture */
const altOf = ({ caption }, place) => caption || `Picture ${place + 1}`;

// Loaded once it is in sight.
function imageOf(picture, place) {
  const image = h("img", { "data-picture": picture.id, alt: altOf(picture, place) });
  observer.observe(image);
  return image;
}

// To be read, each a link.
/** @param {Picture[]} pictures */
export const thumbsOf = (pictures, href) =>
  h(
    "ul.thumbs",
    pictures.map((picture, place) =>
      h("li", h("a.thumb", { href }, imageOf(picture, place)), h("small", picture.caption)),
    ),
  );

function thumb(path, pictures, picture, place) {
  const { id } = picture;
  const image = strip.images.get(id) ?? imageOf(picture, place);
  image.alt = altOf(picture, place);
  strip.images.set(id, image);
  return h(
    "li",
    h("button.thumb", { id: `picture-${id}`, onclick: () => look(path, pictures, place) }, image),
  );
}

// Twenty pictures may be 200 MiB: those out of sight are not loaded.
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target } of entries.filter(({ isIntersecting }) => isIntersecting)) {
      observer.unobserve(target);
      load(target);
    }
  },
  { rootMargin: "100px" },
);

export const loadAll = () => Promise.all(findAll("img:not([src])").map(load));

async function load(image) {
  try {
    const url = URL.createObjectURL(await blob(`/pictures/${image.dataset.picture}/content`));
    image.src = url;
    await image.decode().finally(() => URL.revokeObjectURL(url));
  } catch (error) {
    Object.assign(image, { alt: wordsOf(error), src: "data:," }); // shows the reason
  }
}

// The one after the other.
function add(files) {
  const mine = strip;
  mine.errors = [];
  mine.queue = mine.queue.then(async () => {
    for (const [place, file] of files.entries()) {
      mine.busy = `Adding ${place + 1} of ${files.length}…`;
      mine.draw();
      try {
        const headers = { "Content-Type": "image/png" };
        await send("POST", `${mine.path}/pictures`, { body: await asKept(file), headers });
      } catch (error) {
        mine.errors.push(`${file.name}: ${wordsOf(error)}`);
      }
    }
    mine.busy = "";
    await readAgain(mine);
  });
}

// Of a trade that is about to be shown.
export function addPictures(path, files) {
  strip = stripOf(path);
  add(files);
}

// A picture in full, between its neighbours.
/** @param {Picture[]} all */
function look(path, all, first) {
  const mine = strip;
  const pictures = [...all];
  const stage = h("figure");
  let place = first;
  const step = async (steps) => {
    await saveTexts();
    if (!pictures[place + steps] || find("form[data-changed]", stage)) return;
    place += steps;
    await draw();
  };
  const draw = trying(async () => {
    const { id: wanted } = pictures[place];
    const opened = await get(`/pictures/${wanted}`);
    await released();
    if (pictures[place]?.id !== wanted) return; // another key was faster
    pictures[place] = opened.data.picture;
    const { id } = document.activeElement;
    stage.replaceChildren(...shown(opened, place, pictures.length, { draw, step, remove }));
    (find(`#${id || "none"}:enabled`, stage) ?? dialog).focus(); // else no key would reach it
    load(find("img", stage));
  });
  const remove = () =>
    confirm("Delete this picture?", "It cannot be brought back.", "Delete", async () => {
      await send("DELETE", `/pictures/${pictures[place].id}`);
      pictures.splice(place, 1);
      place = Math.min(place, pictures.length - 1);
      if (pictures.length) await draw();
      else dialog.close();
    });
  const dialog = open("Picture", stage);
  dialog.classList.add("viewer");
  dialog.tabIndex = -1;
  dialog.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (steps && !event.target.closest("textarea")) step(steps);
  });
  dialog.addEventListener("close", () => readAgain(mine));
  draw();
}

function shown(opened, place, total, { draw, step, remove }) {
  const { picture } = opened.data;
  const path = `/pictures/${picture.id}`;
  const kind = { member: "picture", labels: { caption: "Caption" } };
  const { save } = saver({ redraw: draw }, path, opened, kind);
  const arrow = (id, label, text, steps) =>
    h(
      "button",
      {
        id,
        "aria-label": label,
        disabled: place + steps < 0 || place + steps >= total,
        onclick: () => step(steps),
      },
      text,
    );
  const zoom = ({ currentTarget }) => {
    const isFull = find(".stage").classList.toggle("full");
    currentTarget.ariaPressed = String(isFull);
  };
  return [
    // Above the picture, whose height is not known before it is read: nothing moves away from a pointer.
    h(
      ".row",
      arrow("picture-before", "Previous picture", "‹", -1),
      h("span", `${place + 1} of ${total}`),
      arrow("picture-after", "Next picture", "›", 1),
      h("button", { "aria-pressed": "false", onclick: zoom }, `${picture.width} × ${picture.height}`),
      h("button.danger.end", { onclick: remove }, "Delete"),
    ),
    h(".stage", h("img", { "data-picture": picture.id, alt: altOf(picture, place) })),
    textForm(path, "caption", "Caption", picture.caption, save, {
      draft: "The caption of this picture is not saved.",
      rows: 2,
    }),
  ];
}

// Text that comes with its picture, as a table's does, is text where text is typed.
function pasted(event) {
  const { files, types } = event.clipboardData;
  if (!isOpen() || !files.length || (isTyping(event) && types.includes("text/plain"))) return;
  event.preventDefault();
  add([...files]);
}

const isOpen = () => find("#pictures") && !find("dialog[open]");

function dragged(event) {
  if (!isOpen() || !event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  find("#pictures").classList.toggle("over", event.type === "dragover");
  if (event.type === "drop") add([...event.dataTransfer.files]);
}

document.addEventListener("paste", pasted);
for (const name of ["dragover", "dragleave", "drop"]) document.addEventListener(name, dragged);

// What the service keeps, by the first bytes of a file, whatever its type is said to be.
const KEPT = /^(\x89PNG|\xff\xd8\xff|RIFF.{4}WEBP)/s;
const MAX_PNG = 4 * 2 ** 20;

// GIF, AVIF, HEIC and what else this browser can draw as PNG, or as JPEG if that is large as of a photograph.
/** @param {File} file */
async function asKept(file) {
  const start = new Uint8Array(await file.slice(0, 12).arrayBuffer());
  if (KEPT.test(String.fromCharCode(...start))) return file;
  try {
    const image = await createImageBitmap(file);
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext("2d").drawImage(image, 0, 0);
    const drawn = await canvas.convertToBlob({ type: "image/png" });
    return drawn.size > MAX_PNG ? await canvas.convertToBlob({ type: "image/jpeg", quality: 0.92 }) : drawn;
  } catch {
    return file; // the service says what to do
  }
}
