// What leaves the library for good is asked about first: no undo brings it back.

const sheet = document.getElementById("for-good-sheet");

/** Asks; gives whether it is meant. Enter and Esc leave everything as it is. */
export function askForGood(question = sheet.dataset.one.split("|")[0].replace("{count}", 1)) {
  document.getElementById("for-good-title").textContent = question;
  sheet.returnValue = "";
  sheet.showModal();
  return new Promise((done) => sheet.addEventListener("close", () => done(sheet.returnValue === "yes"), { once: true }));
}
