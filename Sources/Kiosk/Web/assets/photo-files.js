// Photos as they are sent to the station.

import { isPassing } from "./outbox.js";
import { amend, forget } from "./outbox-store.js";
import { callAPI, Refusal } from "./requests.js";

/** The longest side of a photo in which bar codes are read. Most are, and a phone's own photo is six times as large. */
const sideForCodes = 2000;
/** The length of a code, in pixels, below which other codes of a photo may be too small. The shortest that is read has 80. */
const smallCode = 160;
/** The largest number of pixels that is sent at all, and the longest side of a larger photo, which is made smaller. */
const mostPixels = 12_000_000, longestSide = 3000;

/**
 * Returns a copy of the photo, upright, whose longer side has at most this length. Returns the photo itself if the copy
 * would have no fewer bytes, or if the browser cannot open the photo: the station may be able to, such as HEIC.
 */
async function shrink(file, side, pixels = 0) {
  let picture;
  try { picture = await createImageBitmap(file); } catch { return addType(file); }
  try {
    const scale = side / Math.max(picture.width, picture.height);
    if (scale >= 1 || picture.width * picture.height <= pixels) return addType(file);
    const canvas = new OffscreenCanvas(Math.round(picture.width * scale), Math.round(picture.height * scale));
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const copy = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 });
    return copy.size < file.size ? copy : addType(file);
  } finally {
    picture.close();
  }
}

/** Returns the photo in the size in which print is read. */
const shrinkForPrint = (file) => shrink(file, longestSide, mostPixels);

const types = { jpg: "image/jpeg", jpeg: "image/jpeg", png: "image/png", webp: "image/webp", heic: "image/heic", heif: "image/heif" };
/** Returns the file, with a type derived from its name if the browser does not give it one. */
function addType(file) {
  const type = file.type || types[file.name.split(".").pop().toLowerCase()];
  return file.type === type ? file : new Blob([file], { type });
}

/**
 * Captures the books in a photo. A small copy of it is sent; if the station finds no book there, or only small codes, as
 * in a photo of many books, the photo itself. The station captures the same book of both only once.
 * Returns the answer of the station, with the books of both, and throws like callAPI.
 */
async function captureBooks(file, request) {
  const send = (photo) => callAPI("POST", `/api/station/photos?request=${request}`, photo);
  const small = await shrink(file, sideForCodes), isWhole = small.size === file.size;
  let first = { rows: [] };
  try {
    first = await send(small);
    if (isWhole || (first.rows.length > 0 && first.shortestCode >= smallCode)) return first;
  } catch (error) {
    if (error.code !== "noBarCode" || isWhole) throw error;
  }
  try {
    const answer = await send(await shrinkForPrint(file)), ids = new Set(answer.rows.map(({ id }) => id));
    return { ...answer, rows: [...answer.rows, ...first.rows.filter(({ id }) => !ids.has(id))] };
  } catch (error) {
    if (error.code === "noBarCode" && first.rows.length > 0) return first;
    throw error;
  }
}

/**
 * Sends a kept photo, and returns the number of books in it that are captured. If there are none, the photo is kept with
 * the reason. Throws like callAPI if it must be sent again.
 *
 * - isLast: true if it counts as unread if it would have to be sent again.
 */
export async function sendPhoto(photo, { isLast } = {}) {
  try {
    const { rows, refused } = await captureBooks(photo.file, photo.id);
    // Without any rows or refusals, its books were captured and answered before.
    if (rows.length > 0 || refused.length === 0) {
      await forget("photos", photo.id);
      return rows.length;
    }
    photo.reason = refused[0].reason;
  } catch (error) {
    const mustWait = isPassing(error) && !(isLast && error instanceof Refusal);
    if (mustWait && await canRead(photo.file)) throw error;
    [photo.reason, photo.hasNoCode] = [error.message, error.code === "noBarCode"];
  }
  await amend("photos", photo);
  return 0;
}

/** Returns true if the file can be read. A request whose body cannot be read fails as if the station did not answer. */
const canRead = (file) => file.slice(0, 1).arrayBuffer().then(() => true, () => false);

/**
 * Reads the print in a photo, and goes to the page Find by title with it.
 *
 * - row: the captured book that the title is for.
 * - unread: the id of the photo among those that could not be read.
 */
export async function findByPhoto(file, { row, unread }) {
  const page = await callAPI("POST", "/api/find/photo", await shrinkForPrint(file));
  const query = new URLSearchParams(row ? { row } : {});
  if (page.title) query.append("title", page.title);
  for (const line of page.lines) query.append("line", line);
  for (const isbn of page.isbns.slice(0, 1)) query.append("isbn", isbn);
  location.assign(`/find?${query}${unread ? `#${unread}` : ""}`);
}

/** Draws a photo into a square canvas, cropped to its middle. Leaves the canvas empty if the browser cannot open it. */
export async function drawThumbnail(file, canvas) {
  let picture;
  try { picture = await createImageBitmap(file); } catch { return; }
  const side = Math.min(picture.width, picture.height);
  const [left, top] = [(picture.width - side) / 2, (picture.height - side) / 2];
  canvas.getContext("2d").drawImage(picture, left, top, side, side, 0, 0, canvas.width, canvas.height);
  picture.close();
}
