// The client of /v1 and of /sign-in: the key, the envelope, ETags. Nothing else on the page calls fetch.

const KEY = "journal-key";
const KEY_ID = "journal-key-id"; // the id of a key that was made for this tab
const ALL_SCOPES = "journal-api keys create NAME --scopes all";
const MAX_KEPT = 200;
const kept = new Map(); // the newest answer of each address that was read, with its ETag
let watched = new Set(); // the addresses that the current view has read

const stored = () => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);
let current = stored();

export const key = {
  // The key of this page. When another tab stores another one, requests must not change their user midway.
  get: () => current,
  stored,
  // The id of the key if a one-time code was exchanged for it.
  id: () => sessionStorage.getItem(KEY_ID),
  // `longer`: until the owner signs out, instead of until the tab is closed.
  set(value, { longer = false, id } = /** @type {{ longer?: boolean, id?: number }} */ ({})) {
    key.remove();
    current = value;
    (longer ? localStorage : sessionStorage).setItem(KEY, value);
    if (id) sessionStorage.setItem(KEY_ID, String(id));
  },
  remove() {
    kept.clear();
    for (const storage of [sessionStorage, localStorage]) {
      if (storage.getItem(KEY) === current) storage.removeItem(KEY);
    }
    sessionStorage.removeItem(KEY_ID);
    current = null;
  },
};

// The user of a key, null if the key may not read that.
export async function whoIs(value) {
  const response = await request("GET", "/v1/me", undefined, { Authorization: `Bearer ${value}` });
  return response.status === 403 ? null : (await answerOf(response)).data.me;
}

// {key, key_id}: the new key for a one-time code; as a dry run {me}: whose journal the code opens.
export async function exchange(code, isDryRun = false) {
  const body = JSON.stringify({ code, dry_run: isDryRun });
  return (await answerOf(await request("POST", "/sign-in", body, { "Content-Type": "application/json" })))
    .data;
}

// The command that creates a key, as it is typed where the journal runs.
export const keyCommand = async () => (await answerOf(await request("GET", "/sign-in"))).data.command;

// The message is for who sees a page: a key for one operation would be of no use here, and nothing here is Markdown.
export class ApiError extends Error {
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

// What a form refuses before it sends anything: reasons by the name of the field.
export const refused = (fields) => new ApiError(0, { message: "", details: { fields } });

// The address of a path under /v1; members of `query` that are null, undefined or "" are left out, and a list
// becomes one parameter for each item.
export function address(path, query = {}) {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((item) => [name, item]));
  const sent = new URLSearchParams(pairs.filter(([, value]) => value != null && value !== ""));
  return `/v1${path}${sent.size ? `?${sent}` : ""}`;
}

// Reads: {data, meta, etag}. An answer that has not changed is not sent again.
export async function get(path, query) {
  const url = address(path, query);
  watched.add(url);
  return (await read(url)).answer;
}

// Writes: {data, meta, etag, headers}. With `etag`, only if nobody has changed the thing since it was read.
export async function send(method, path, { body, query, etag, headers } = /** @type {any} */ ({})) {
  const json = body !== undefined && !(body instanceof Blob);
  const response = await request(method, address(path, query), json ? JSON.stringify(body) : body, {
    ...(json && { "Content-Type": "application/json" }),
    ...(etag && { "If-Match": etag }),
    ...headers,
  });
  return answerOf(response);
}

// A new view watches other addresses.
export function watchAnew() {
  watched = new Set();
  if (kept.size > MAX_KEPT) kept.clear();
}

// Whether any answer that the current view has read is another one now.
export async function hasChanged() {
  const reads = await Promise.all([...watched].map((url) => read(url)));
  return reads.some((one) => one.isNew);
}

async function read(url) {
  const known = kept.get(url);
  const response = await request("GET", url, undefined, known && { "If-None-Match": known.etag });
  if (response.status === 304) return { answer: known, isNew: false };
  const answer = await answerOf(response);
  kept.set(url, answer);
  return { answer, isNew: true };
}

async function request(method, url, body, headers) {
  try {
    return await fetch(url, {
      method,
      body,
      cache: "no-store",
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
