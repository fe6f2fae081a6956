// While the page is visible, one request waits for the changes of the journal.

import { changesSince, follow as readChanged } from "./client.js";

const WAIT = 25; // seconds
const TIMEOUT = 40_000; // milliseconds; a machine that slept has lost its connection
const TOGETHER = 100; // milliseconds in which changes gather; a write of this page is drawn by itself meanwhile
const MAX_PAUSE = 5_000; // milliseconds; most journals are on this machine

let failures = 0;
let waiting = new AbortController();
let wake = () => {};

const isVisible = () => document.visibilityState === "visible";
const pause = (milliseconds) =>
  new Promise((/** @type {(value?: any) => void} */ done) => {
    wake = done;
    if (milliseconds) setTimeout(done, milliseconds);
  });
const pauseLonger = () => pause(Math.min(1000 * 2 ** ++failures, MAX_PAUSE));

// Until `isOver`: calls `changed` with "part" if what was read is new, with "all" if everything is to be read again.
export async function follow({ isOver, isOld, hasFailed }, { changed, refused, away }) {
  waiting.abort();
  wake();
  if (hasFailed) await pauseLonger();
  while (!isOver()) {
    if (!isVisible()) await pause();
    else if (await isAllOld()) return isOver() || changed("all");
  }

  async function isAllOld() {
    waiting = new AbortController();
    const signal = AbortSignal.any([waiting.signal, AbortSignal.timeout(TIMEOUT)]);
    try {
      const changes = await changesSince(hasFailed || failures ? 0 : WAIT, signal);
      failures = 0;
      away(false);
      if (hasFailed || changes.meta.more) return true;
      await pause(TOGETHER);
      if (isOver()) return false;
      const isNew = await readChanged(changes);
      if (isNew && !isOver()) changed("part");
      return isOld();
    } catch (error) {
      if (isOver() || waiting.signal.aborted) return false;
      if (error.status === 401) return refused(error);
      away(error.status === 0 || error.status >= 500);
      await pauseLonger();
      return error.status === 410;
    }
  }
}

addEventListener("visibilitychange", () => (isVisible() ? wake() : waiting.abort()));
