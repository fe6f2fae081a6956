import { get, send } from "../client.js";
import { open, showConflict } from "../dialogs.js";
import { choiceField, field, form, h, released, select, textField } from "../dom.js";
import { DIRECTIONS } from "../enums.js";
import { NONE, idsAndNames, inWords, nameIn } from "../format.js";
import { cityOf, here, inMinutes, inZone, local, now, numberField, numbersOf, timeInput } from "../inputs.js";
import { addPictures } from "./pictures.js";
import { checklist, setupOf, singlesOf, tagsOf } from "./trade_parts.js";

const NUMBERS = [
  ["quantity", "Quantity"],
  ["entry_price", "Entry"],
  ["exit_price", "Exit"],
  ["stop_loss", "Stop"],
  ["fees", "Fees"],
  ["gross_pnl", "Gross P&L"],
];
const OF_FILLS = ["quantity", "entry_price", "exit_price"];
const HINTS = {
  gross_pnl: "Empty: from the prices.",
  fees: "Empty: the commissions of the account.",
  exit_price: "Empty while open.",
};

export function editTrade({ me, accounts, selection, go, redraw }, lists, read) {
  const trade = read?.data.trade;
  const times = timeFields(trade, me.timezone);
  const judged = !trade && judgement(lists);
  const pictures = !trade && pictureField();
  // Prices of several entries or exits are changed by their fills.
  const isScaled = trade?.fills.length > 2;
  const numbers = NUMBERS.filter(([name]) => !(isScaled && OF_FILLS.includes(name)));
  let newest = read; // after a conflict, what is stored now
  const write = async (body) => {
    await send("PATCH", `/trades/${trade.id}`, { body, etag: newest.etag });
    await finish();
  };
  const finish = () => {
    dialog.close();
    return redraw();
  };
  const change = async (body) => {
    try {
      await write(body);
    } catch (error) {
      if (error.status !== 412) throw error;
      const before = newest.data.trade;
      newest = await get(`/trades/${trade.id}`);
      showConflict("trade", versions(body, before, newest.data.trade, { me, accounts }), {
        keepMine: () => change(body),
        takeStored: finish,
      });
    }
  };
  const add = async (body) => {
    const { id } = await addTrade({ ...filled(body), ...filled(judged.body()) }, pictures.files());
    dialog.close();
    go("trades", { id });
  };
  const save = (values) => {
    const body = bodyOf(times.settle(values));
    return trade ? change(changed(body, shown)) : add(body);
  };
  const element = form(
    { id: trade ? "prices" : "new-trade", onpaste: pictures && pictures.paste },
    save,
    h(
      ".row",
      choiceField("Account", "account_id", trade?.account_id ?? selection.account_id, idsAndNames(accounts)),
      textField("Symbol", "symbol", trade ?? {}, { autofocus: true }),
      !isScaled && choiceField("Side", "direction", trade?.direction ?? "long", inWords(DIRECTIONS)),
    ),
    h(
      ".row",
      numbers.map(([name, label]) => numberField(label, name, trade?.[name], HINTS[name])),
    ),
    isScaled ? h("p.muted", "Quantity, prices and times follow from the fills: change those.") : times.place,
    judged && [judged.place, pictures.place],
    h(".row", h("button.primary", trade ? "Save" : "Add the trade")),
  );
  const shown = bodyOf(times.settle(Object.fromEntries(new FormData(element))));
  const dialog = open(
    trade ? "Prices and times" : "Add a trade",
    accounts.length
      ? element
      : h(
          "p",
          "A trade belongs to an account. Make one under ",
          h("a", { href: "#/settings", onclick: () => dialog.close() }, "Settings"),
          ".",
        ),
  );
}

const ZONE = "journal-typed-zone"; // in which times were typed last
const NAMES = { opened_at: "Opened", closed_at: "Closed" };

// Times are typed in the zone of the trading days, or in the zone where one is; `settle` writes them in the first.
function timeFields(trade, zone) {
  const zones = [...new Set([zone, here()])];
  const typed = zones.find((one) => one === localStorage.getItem(ZONE)) ?? zone;
  const opened = trade ? trade.opened_at : new Date().setSeconds(0, 0);
  const inputs = {
    opened_at: timeInput("opened_at", opened, typed),
    closed_at: timeInput("closed_at", trade?.closed_at, typed),
  };
  let shown = typed;
  const choose = ({ target }) => {
    for (const input of Object.values(inputs)) input.value = inZone(input.value, shown, target.value);
    shown = target.value;
    localStorage.setItem(ZONE, shown);
  };
  const timeField = ([name, label]) => {
    const set = () => {
      inputs[name].value = now(shown);
      inputs[name].dispatchEvent(new Event("input", { bubbles: true }));
    };
    return [
      field(label, inputs[name]),
      h("button.end-row", { "aria-label": `${label} now`, onclick: set }, "Now"),
    ];
  };
  const settle = (/** @type {any} */ { times_in: _, ...values }) =>
    Object.fromEntries(
      Object.entries(values).map(([name, text]) => [name, name in NAMES ? inZone(text, shown, zone) : text]),
    );
  const choice =
    zones.length > 1 &&
    field(
      "Times in",
      select(
        { name: "times_in", value: typed, onchange: choose },
        zones.map((one) => [one, `${cityOf(one)} time`]),
      ),
    );
  const place = h(
    "div.stack",
    h(".row", Object.entries(NAMES).map(timeField), choice),
    !choice && h("p.muted", `Times are in ${zone}.`),
  );
  return { place, settle };
}

function bodyOf(values) {
  const valueOf = (name, text) => (text.trim() === "" ? null : name.endsWith("_id") ? Number(text) : text);
  const texts = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, valueOf(name, text)]));
  return {
    ...texts,
    ...numbersOf(
      values,
      NUMBERS.map(([name]) => name).filter((name) => name in values),
    ),
  };
}

const filled = (body) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
const changed = (body, shown) =>
  Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== shown[name]));

function versions(body, before, stored, { me, accounts }) {
  const labels = {
    account_id: "Account",
    symbol: "Symbol",
    direction: "Side",
    ...Object.fromEntries(NUMBERS),
    opened_at: "Opened",
    closed_at: "Closed",
  };
  const text = (name, value) =>
    (name === "account_id"
      ? nameIn(accounts, value)
      : value && name.endsWith("_at")
        ? inMinutes(value.replace("T", " "))
        : value) ?? NONE;
  const inField = (name, value) => text(name, name.endsWith("_at") ? local(value, me.timezone) : value);
  return Object.entries(labels).map(([name, label]) => [
    label,
    name in body ? text(name, body[name]) : inField(name, before[name]),
    inField(name, stored[name]),
    name in body,
  ]);
}

// Adding a trade by hand: prices and times, and what one thinks of it.
// What is chosen, as members of the trade, and its fields, which are drawn again with each choice.
/** @param {{ strategies: StrategyListItem[], rest: Tag[], singles: any[] }} lists */
function judgement({ strategies, rest, singles }) {
  /** @type {any} */
  const chosen = { strategy_id: null, setup_id: null, tag_ids: [], confirmations: [] };
  const place = h(".stack");
  let strategy;
  const choose = async (changeOf) => {
    const change = changeOf(chosen);
    Object.assign(chosen, "strategy_id" in change && { setup_id: null, confirmations: [] });
    Object.assign(chosen, "setup_id" in change && { confirmations: [] }, change);
    const { strategy_id: id } = chosen;
    const read = id && (strategy?.id === id ? strategy : (await get(`/strategies/${id}`)).data.strategy);
    await released();
    if (id !== chosen.strategy_id) return; // another choice was faster
    strategy = read;
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
function pictureField() {
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

async function addTrade(body, files) {
  const { data } = await send("POST", "/trades", { body });
  if (files.length) addPictures(`/trades/${data.trade.id}`, files);
  return data.trade;
}
