// Adding a trade by hand: prices and times, and what one thinks of it.

import { get, send } from "../client.js";
import { field, h } from "../dom.js";
import { addPictures } from "./pictures.js";
import { checklist, setupOf, singlesOf, tagsOf } from "./trade_parts.js";

// What is chosen, as members of the trade, and its fields, which are drawn again with each choice.
/** @param {{ strategies: StrategyListItem[], rest: Tag[], singles: any[] }} lists */
export function judgement({ strategies, rest, singles }) {
  /** @type {any} */
  const chosen = { strategy_id: null, setup_id: null, tag_ids: [], confirmations: [] };
  const place = h(".stack");
  let strategy;
  const choose = async (changeOf) => {
    const change = changeOf(chosen);
    Object.assign(chosen, "strategy_id" in change && { setup_id: null, confirmations: [] });
    Object.assign(chosen, "setup_id" in change && { confirmations: [] }, change);
    const { strategy_id: id } = chosen;
    const read = id && strategy?.id !== id ? (await get(`/strategies/${id}`)).data.strategy : strategy;
    if (id !== chosen.strategy_id) return; // another choice was faster
    strategy = id ? read : undefined;
    draw();
  };
  const draw = () => {
    const focused = document.activeElement;
    const hadFocus = place.contains(focused);
    const setup = strategy?.setups.find(({ setup_id }) => setup_id === chosen.setup_id);
    place.replaceChildren(
      setupOf(chosen, strategies, strategy, null, choose),
      ...(setup ? [checklist(chosen, setup, choose)] : []),
      ...singlesOf(chosen, singles, choose),
      tagsOf(chosen, rest, choose),
    );
    // What was pressed may be gone: on with the tags, which stand below the checklist.
    const again = focused.id && place.querySelector(`#${focused.id}`);
    /** @type {any} */ (again || (hadFocus && place.querySelector("#new-tag")))?.focus?.();
  };
  draw();
  return { place, body: () => chosen };
}

// Files are chosen, or pasted anywhere in the form.
export function pictureField() {
  const input = h("input", { type: "file", id: "new-pictures", accept: "image/*", multiple: true });
  const paste = (event) => {
    const { files, types } = event.clipboardData;
    if (!files.length || types.includes("text/plain")) return;
    event.preventDefault();
    const all = new DataTransfer();
    for (const file of [...input.files, ...files]) all.items.add(file);
    input.files = all.files;
  };
  return { place: field("Pictures", input, "Or paste them"), files: () => [...input.files], paste };
}

export async function addTrade(body, files) {
  const { data } = await send("POST", "/trades", { body });
  if (files.length) addPictures(`/trades/${data.trade.id}`, files);
  return data.trade;
}
