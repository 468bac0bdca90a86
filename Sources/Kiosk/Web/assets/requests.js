// Requests to the service's API, which pages and the service worker send.

/** A failure that the service reports for a request, with a message for a person and a code for scripts. */
export class Refusal extends Error {
  constructor(status, error) {
    super(error?.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = error?.code;
    /** The stored value, if the request expected another one. */
    this.now = error?.now;
  }
}

const isPage = "document" in globalThis;
let running = 0, timer = 0;

/** Waits for the work. If the work takes longer than 300 ms, the page shows that it is busy. */
export async function showProgress(work) {
  if (!isPage) return work();
  if ((running += 1) === 1) timer = setTimeout(() => document.documentElement.toggleAttribute("data-acting", true), 300);
  try {
    return await work();
  } finally {
    if ((running -= 1) === 0) {
      clearTimeout(timer);
      document.documentElement.removeAttribute("data-acting");
    }
  }
}

/**
 * Returns the header that names the reader whom this page shows. Another reader may have been chosen in another window
 * since.
 */
export function readerHeader() {
  const reader = isPage && document.body.dataset.reader;
  return reader ? { "Bookplate-Reader": reader } : {};
}

/**
 * Sends a request and returns the JSON of its answer, or null if the answer has none. Throws a Refusal, or a TypeError
 * if the service does not answer.
 */
export function callAPI(method, path, body) {
  return method !== "GET" ? showProgress(() => send(method, path, body)) : send(method, path, body);
}

/** Fetches a page, and returns its document. Throws a Refusal, or a TypeError if the service does not answer. */
export async function fetchPage(address) {
  const answer = await fetch(address, { headers: readerHeader() });
  if (!answer.ok) throw new Refusal(answer.status, (await answer.json()).error);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

/** Sends a request like callAPI(), but never shows that the page is busy. */
export { send as callQuietly };

async function send(method, path, body, options = {}) {
  const isJSON = body !== undefined && !(body instanceof Blob);
  const type = isJSON ? "application/json" : body?.type;
  const answer = await fetch(path, {
    method, headers: { ...(type ? { "Content-Type": type } : {}), ...readerHeader() },
    body: isJSON ? JSON.stringify(body) : body, ...options,
  });
  const json = answer.headers.get("Content-Type")?.startsWith("application/json") ? await answer.json() : null;
  if (answer.status === 401 && isPage && location.pathname !== "/sign-in") {
    location.assign("/sign-in?to=" + encodeURIComponent(location.pathname));
  }
  if (!answer.ok) throw new Refusal(answer.status, json?.error);
  return json;
}

/** Returns a UUID that sorts by its time (RFC 9562, version 7). crypto.randomUUID exists only over https. */
export function makeRequestID() {
  const random = [...crypto.getRandomValues(new Uint8Array(10))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const all = Date.now().toString(16).padStart(12, "0") + "7" + random.slice(0, 3) + "8" + random.slice(3, 18);
  return all.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
