// What a change of a strategy takes along, counted and in words.

import { count } from "../format.js";

// How many setups and confirmations of the stored strategy the body leaves out.
/** @param {any} body @param {Strategy} stored */
export function removedBy(body, stored) {
  const kept = new Set(body.setups.map(({ setup_id }) => setup_id));
  const ids = (one) =>
    one.setups.flatMap(({ confirmations }) => confirmations.map(({ confirmation_id }) => confirmation_id));
  const keptConfirmations = new Set(ids(body));
  return {
    setups: stored.setups.filter(({ setup_id }) => !kept.has(setup_id)).length,
    confirmations: ids(stored).filter((id) => !keptConfirmations.has(id)).length,
  };
}

// "removes 1 setup and 2 confirmations: 14 trades lose their setup, 31 answers are deleted", "" if nothing goes.
export function lossOf({ setups, confirmations }, headers, what = "setup") {
  const removed = [
    setups && count(setups, "setup"),
    confirmations && count(confirmations, "confirmation"),
  ].filter(Boolean);
  const trades = Number(headers.get("X-Trades-Unlinked"));
  const answers = Number(headers.get("X-Answers-Deleted"));
  const taken = [
    trades && `${count(trades, "trade")} ${trades === 1 ? "loses its" : "lose their"} ${what}`,
    answers && `${count(answers, "answer")} ${answers === 1 ? "is" : "are"} deleted`,
  ].filter(Boolean);
  if (!removed.length && !taken.length) return "";
  const effect = taken.length ? `: ${taken.join(", ")}` : ": no trade or answer is lost";
  return removed.length ? `removes ${removed.join(" and ")}${effect}` : taken.join(", ");
}
