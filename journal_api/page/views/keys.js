// The card of API keys in #/settings.

import { send } from "../client.js";
import { confirm, h } from "../dom.js";
import { dayOfYear, NONE } from "../format.js";
import { table } from "../table.js";

const isValid = ({ revoked_at: revoked, expires_at: expires }) =>
  !revoked && (!expires || new Date(expires) > new Date());

/** @param {ApiKey[]} all @param {Context} context */
export function keysCard(all, context) {
  const keys = all.filter(isValid);
  return h(
    "section#keys.card",
    { "aria-label": "Keys" },
    h("h2", "Keys"),
    h("p.muted", "Whoever has one of these keys can use this journal. Revoke those that you no longer need."),
    keys.length > 0 &&
      table(
        { class: "middle" },
        ["Name", "Ends in", "Last used", ""],
        keys.map((one) => cellsOf(one, context)),
      ),
  );
}

const day = (text) => dayOfYear(text.slice(0, 10));
const about = ({ is_current: isCurrent, expires_at: expires }) =>
  [isCurrent && "this browser", expires && `expires ${day(expires)}`].filter(Boolean).join(", ");
const lastUse = ({ is_current: isCurrent, last_used_on: used }) =>
  isCurrent ? "Now" : used ? day(used) : NONE;

/** @param {ApiKey} one @param {Context} context */
const cellsOf = (one, context) => [
  [h("div", one.name), h("small.muted", about(one))],
  h("code", `…${one.last_four}`),
  lastUse(one),
  h(
    "button",
    {
      "aria-label": `Revoke ${one.name}, which ends in ${one.last_four}`,
      onclick: () => askToRevoke(one, context),
    },
    "Revoke",
  ),
];

function askToRevoke({ id, name, last_four: lastFour, is_current: isCurrent }, { redraw, signOut }) {
  const loss = isCurrent ? "This browser is signed out." : "Whatever uses this key is signed out.";
  confirm(
    `Revoke ${name} (…${lastFour})?`,
    `${loss} A revoked key never works again.`,
    "Revoke",
    async () => {
      await send("DELETE", `/keys/${id}`);
      await (isCurrent ? signOut() : redraw());
    },
  );
}
