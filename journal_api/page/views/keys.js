// The card of API keys in #/settings.

import { send } from "../client.js";
import { confirm, h } from "../dom.js";
import { dayOfYear, NONE } from "../format.js";

const isValid = ({ revoked_at: revoked, expires_at: expires }) => !revoked && (!expires || new Date(expires) > new Date());

export function keysCard(keys, context) {
  return h("section", { class: "card", id: "keys", "aria-label": "Keys" }, h("h2", null, "Keys"),
    h("p", { class: "muted" }, "Whoever has a key reads and writes this journal. Revoke the keys that you no longer use."),
    h("div", { class: "scroll" }, h("table", { class: "middle" },
      h("thead", null, h("tr", null, ["Name", "Ends in", "Last used", "Expires"].map((head) => h("th", { scope: "col" }, head)), h("td"))),
      h("tbody", null, keys.filter(isValid).map((one) => row(one, context))))));
}

const day = (text) => (text ? dayOfYear(text.slice(0, 10)) : NONE);

const row = (one, context) => h("tr", null,
  h("td", null, one.name, one.is_current && h("small", { class: "muted" }, " this browser")),
  h("td", null, h("code", null, `…${one.last_four}`)), h("td", null, day(one.last_used_on)), h("td", null, day(one.expires_at)),
  h("td", null, h("button", { "aria-label": `Revoke ${one.name}, which ends in ${one.last_four}`, onclick: () => askToRevoke(one, context) }, "Revoke")));

function askToRevoke({ id, name, last_four: lastFour, is_current: isCurrent }, { redraw, signOut }) {
  const loss = isCurrent ? "This browser is signed out." : "Whatever uses this key is signed out.";
  confirm(`Revoke ${name} (…${lastFour})?`, `${loss} A revoked key never works again.`, "Revoke", async () => {
    await send("DELETE", `/keys/${id}`);
    await (isCurrent ? signOut() : redraw());
  });
}
