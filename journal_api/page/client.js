// The client of /v1 and /sign-in. Nothing else on the page calls fetch.

const KEY = "journal-key";
const KEY_ID = "journal-key-id";
const ALL_SCOPES = "journal-api keys create NAME --scopes all";
const MAX_KEPT = 200;
const kept = new Map();
let watched = new Set(); // addresses that the view has read
let followed = new Set(); // of an earlier drawing: addresses whose answers are still right
let cursor = null; // of the first read of the view, then of the last changes

const STORAGES = [sessionStorage, localStorage];
const stored = () => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);
let current = stored();

export const key = {
  // When another tab stores another key, requests must not change their user midway.
  get: () => current,
  stored,
  id: () => STORAGES.find((one) => one.getItem(KEY) === current)?.getItem(KEY_ID),
  set(value, { longer = false, id } = /** @type {{ longer?: boolean, id?: number }} */ ({})) {
    key.remove();
    current = value;
    const storage = longer ? localStorage : sessionStorage;
    storage.setItem(KEY, value);
    storage.setItem(KEY_ID, id ? String(id) : "");
  },
  remove() {
    kept.clear();
    for (const storage of STORAGES) {
      if (storage.getItem(KEY) !== current) continue;
      storage.removeItem(KEY);
      storage.removeItem(KEY_ID);
    }
    current = null;
  },
};

export async function whoIs(value) {
  const response = await request("GET", "/v1/me", undefined, { Authorization: `Bearer ${value}` });
  return response.status === 403 ? null : (await answerOf(response)).data.me;
}

// A dry run says whose journal the code opens. Without a code, the proxy says who the user is.
export async function exchange(code, isDryRun = false) {
  const body = JSON.stringify({ code, dry_run: isDryRun });
  return (await answerOf(await request("POST", "/sign-in", body, { "Content-Type": "application/json" })))
    .data;
}

export const waysIn = async () => (await answerOf(await request("GET", "/sign-in"))).data;

// Messages have backticks for who sees the API; a key for one operation would be of no use here.
class ApiError extends Error {
  /** @param {number} status @param {{ code?: string, message: string, details?: any }} error */
  constructor(status, { code, message, details }) {
    const scope = details?.required_scope;
    super(
      scope
        ? `The key lacks the scope ${scope}. This page wants one that may do all: ${ALL_SCOPES}`
        : message.replaceAll("`", ""),
    );
    Object.assign(this, { status, code, details });
  }
}

export const refused = (fields) => new ApiError(0, { message: "", details: { fields } });

function search(query = {}) {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((item) => [name, item]));
  const sent = new URLSearchParams(pairs.filter(([, value]) => value != null && value !== ""));
  return sent.size ? `?${sent}` : "";
}

const address = (path, query) => `/v1${path}${search(query)}`;
export const href = (view, query) => `#/${view}${search(query)}`;

// An answer that has not changed is not sent again.
export async function get(path, query) {
  const url = address(path, query);
  watched.add(url);
  return (followed.has(url) && kept.get(url)) || (await read(url)).answer;
}

// With `etag`, only if nobody has changed the thing since it was read.
export async function send(method, path, { body, query, etag, headers } = /** @type {any} */ ({})) {
  const json = body !== undefined && !(body instanceof Blob);
  const response = await request(method, address(path, query), json ? JSON.stringify(body) : body, {
    ...(json && { "Content-Type": "application/json" }),
    ...(etag && { "If-Match": etag }),
    ...headers,
  });
  return answerOf(response);
}

// The browser keeps the bytes of a picture and asks whether they are still the same: in a restored journal another
// picture may have the id.
export async function blob(path) {
  const response = await request("GET", address(path), undefined, {}, { cache: "no-cache" });
  if (!response.ok) await answerOf(response); // throws
  return response.blob();
}

// `isFollowed`: what the view has read is as it was, except what was read again since.
export function watchAnew(isFollowed) {
  followed = isFollowed ? watched : new Set();
  watched = new Set();
  if (isFollowed) return;
  cursor = null;
  if (kept.size > MAX_KEPT) kept.clear();
}

// After the drawing: what else is read has its reasons.
export const readAnew = () => followed.clear();

export async function changesSince(wait, signal) {
  const query = cursor ? { since: cursor, wait } : {};
  return answerOf(await request("GET", address("/changes", query), undefined, {}, { signal }));
}

// Reads again what changes name, and tells whether that is new.
export async function follow({ data, meta }) {
  const urls = [...watched].filter((url) => isNamed(url, data.changes));
  const reads = await Promise.all(urls.map(read));
  cursor = meta.cursor;
  return reads.some((one) => one.isNew);
}

// What is computed changes with all that goals are computed from.
const COMPUTED = ["accounts", "days", "example_journal", "reports", "search", "trades"];
const MORE = { accounts: ["checkpoints"], search: ["days"] };

function isNamed(url, changes) {
  const name = url.split(/[/?]/)[2].replaceAll("-", "_");
  return changes.some(
    ({ resource, id }) =>
      resource === name ||
      MORE[name]?.includes(resource) ||
      (resource === "goals" && id === null && COMPUTED.includes(name)),
  );
}

async function read(url) {
  const known = kept.get(url);
  const response = await request("GET", url, undefined, known && { "If-None-Match": known.etag });
  cursor ??= response.headers.get("X-Cursor");
  if (response.status === 304) return { answer: known, isNew: false };
  const answer = await answerOf(response);
  kept.set(url, answer);
  return { answer, isNew: true };
}

async function request(method, url, body, headers, options = /** @type {RequestInit} */ ({})) {
  try {
    return await fetch(url, {
      method,
      body,
      cache: "no-store",
      ...options,
      headers: { ...(current && { Authorization: `Bearer ${current}` }), ...headers },
    });
  } catch {
    throw new ApiError(0, { code: "unreachable", message: "The journal does not answer. Is it running?" });
  }
}

async function answerOf(response) {
  const { headers, status } = response;
  const { ok = true, data, meta, error } = status === 204 ? {} : await response.json();
  if (!ok) throw new ApiError(status, error);
  return { data, meta, etag: headers.get("ETag"), headers };
}
