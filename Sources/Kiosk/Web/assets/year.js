// The review of a year, with its picture as a file.

import { toast } from "./messages.js";

const picture = document.getElementById("picture"), named = document.getElementById("with-name");
const svg = document.getElementById("save-svg"), png = document.getElementById("save-png");

// The picture has the reader's name only if the person wants it.
named?.addEventListener("change", () => {
  const address = picture.getAttribute("src").split("?")[0] + (named.checked ? "?name=1" : "");
  picture.src = svg.href = address;
});

/** Draws the picture at its full size, and returns it as a PNG. */
async function draw() {
  const image = new Image();
  image.src = picture.src;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.naturalWidth, height: image.naturalHeight });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => blob ? resolve(blob) : reject(new Error("no picture")), "image/png"));
}

png?.addEventListener("click", async () => {
  try {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await draw());
    link.download = png.dataset.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  } catch { toast(png.dataset.failed, { isError: true }); }
});
