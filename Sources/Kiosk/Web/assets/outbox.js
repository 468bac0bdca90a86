// Delivers to the station what this browser keeps for it (outbox-store.js). The id of each request is kept, too, so that the station
// captures once what is sent twice, by two tabs or because an answer was lost.

import { callAPI, Refusal } from "./requests.js";

/** Returns true if sending again may succeed: the station is busy, does not answer, or wants the person to sign in. */
export const isPassing = (error) => !(error instanceof Refusal) || [401, 403, 408, 429].includes(error.status)
  || (error.status >= 500 && error.code !== "noPhotos");

/**
 * Sends a number. Returns { row, code } once it is captured, and { refusal, code } if it is not a book's. Throws like
 * callAPI if it must be sent again.
 */
export async function sendNumber({ id, code, origin, refusal }) {
  // The service worker has sent it, and keeps the answer for a page that shows it.
  if (refusal !== undefined) return { refusal, code };
  try {
    const { row } = await callAPI("POST", "/api/station/captures", { text: code, origin, request: id });
    return { row, code };
  } catch (error) {
    if (isPassing(error)) throw error;
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
