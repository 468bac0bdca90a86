// Photos as they are sent to the station.

import { callAPI } from "./requests.js";

/**
 * The largest number of pixels in a photo that is sent unchanged, and the longest side of a photo that was made
 * smaller. Bar codes and print are read well below this size, and a larger photo only takes longer.
 */
const mostPixels = 12_000_000, longestSide = 3000;

/** Returns the photo to send: the file, or a smaller picture of it. */
export async function shrinkPhoto(file) {
  let picture;
  // The station may be able to open files that the browser cannot open, such as HEIC.
  try { picture = await createImageBitmap(file); } catch { return addType(file); }
  try {
    if (picture.width * picture.height <= mostPixels) return addType(file);
    const scale = longestSide / Math.max(picture.width, picture.height);
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(picture.width * scale);
    canvas.height = Math.round(picture.height * scale);
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? addType(file)), "image/jpeg", 0.9));
  } finally {
    picture.close();
  }
}

const types = { jpg: "image/jpeg", jpeg: "image/jpeg", png: "image/png", webp: "image/webp", heic: "image/heic", heif: "image/heif" };
/** Returns the file, with a type derived from its name if the browser does not give it one. */
function addType(file) {
  const type = file.type || types[file.name.split(".").pop().toLowerCase()];
  return file.type === type ? file : new Blob([file], { type });
}

/** Reads the print in a photo, and goes to the page Find by title with it. */
export async function findByPhoto(file, row) {
  const page = await callAPI("POST", "/api/find/photo", await shrinkPhoto(file));
  const query = new URLSearchParams(row ? { row } : {});
  if (page.title) query.append("title", page.title);
  for (const line of page.lines) query.append("line", line);
  for (const isbn of page.isbns.slice(0, 1)) query.append("isbn", isbn);
  location.assign(`/find?${query}`);
}
