// @ts-check
// The file at hand, and reading it: as a dry run or for good.

import { send } from "../client.js";

const MEDIA_TYPES = { htm: "text/html", html: "text/html", xml: "application/xml" };
// The file at hand: {file, options, report or error, profile}. It is in no address, so it is kept here. Every read makes
// another one, so whoever holds an earlier one knows that the options have changed since.
/** @type {any} */
export let work = null;
// Sends the file, as a dry run or for good, and draws what came of it. `profile` was its description until now.
/** @param {{ file: File, options: any, profile?: any }} file @param {boolean} isDryRun @param {() => Promise<void>} redraw */
export async function read({ file, options, profile }, isDryRun, redraw) {
  const mine = (work = { file, options, isBusy: true, isDryRun });
  const finish = (read) => {
    if (work === mine) work = { file, options, ...read };
  };
  await redraw();
  const type = MEDIA_TYPES[file.name.split(".").pop().toLowerCase()] ?? "text/csv";
  const query = { ...options, file_name: file.name, dry_run: isDryRun };
  try {
    if (!file.size) throw new Error("This file is empty.");
    const { data } = await send("POST", "/imports", { body: file, query, headers: { "Content-Type": type } });
    finish({ profile, report: data.import });
  } catch (error) {
    finish({ error });
  }
  await redraw();
}

export const withoutFile =
  ({ redraw }) =>
  () => {
    work = null;
    return redraw();
  };
