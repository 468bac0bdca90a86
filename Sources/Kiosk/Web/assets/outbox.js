// Delivers to the station what this browser keeps for it (outbox-store.js). The id of each request is kept, too, so that
// the station captures once what is sent twice, by two tabs or because an answer was lost.

import { callQuietly, Refusal, showProgress } from "./requests.js";

/** The time after which a station that does not answer counts as away, in milliseconds. */
const patience = 20_000;

/** Returns true if sending again may succeed: the station is busy, does not answer, or wants the person to sign in. */
export function isPassing(error) {
  if (error instanceof Refusal) {
    return [401, 403, 408, 429].includes(error.status) || (error.status >= 500 && error.code !== "noPhotos");
  }
  // All others come from the photo itself.
  return !(error instanceof DOMException) || ["AbortError", "TimeoutError"].includes(error.name);
}

/**
 * Sends a number. Returns { row, code } once it is captured, { code } if it was captured and answered before, and
 * { refusal, code } if it is not a book's. Throws like callAPI if it must be sent again.
 */
export async function sendNumber({ id, code, origin, refusal }) {
  // The service worker has sent it, and keeps the answer for a page that shows it.
  if (refusal !== undefined) return { refusal, code };
  try {
    const body = { text: code, origin, request: id }, options = { signal: AbortSignal.timeout(patience) };
    const { row } = await showProgress(() => callQuietly("POST", "/api/station/captures", body, options));
    return { row, code };
  } catch (error) {
    if (isPassing(error)) throw error;
    if (error.code === "answered") return { code };
    return { refusal: error.message, code };
  }
}

/**
 * Asks the browser to send what is kept as soon as it is connected again, even if no page is open then. Browsers without
 * this (Background Sync) send it when a page is opened.
 */
export async function askForDelivery() {
  try {
    const worker = await navigator.serviceWorker?.getRegistration();
    await worker?.sync?.register("outbox");
  } catch { /* The person does not allow it, so a page sends it. */ }
}
