// Sheets: dialogs and forms that send what was entered and show a refusal beside it.

import { describeFailure } from "./acts.js";
import { text } from "./texts.js";

/**
 * Runs the act of a sheet. A failure is shown in the sheet, and nothing typed is lost. Returns the error, or null on
 * success.
 */
export async function submitSheet(sheet, act) {
  const wrong = sheet.querySelector(".wrong"), primary = sheet.querySelector(".primary"), label = primary.textContent;
  const focused = document.activeElement;
  wrong.hidden = true;
  primary.disabled = true;
  primary.textContent = text("saving");
  try {
    await act();
    return null;
  } catch (error) {
    wrong.textContent = describeFailure(error);
    wrong.hidden = false;
    return error;
  } finally {
    primary.textContent = label;
    primary.disabled = false;
    // A button that is disabled loses the focus.
    if (document.activeElement === document.body) focused.focus();
  }
}

/** Asks before books are deleted for good, which no undo brings back. Returns the answer; Enter and Esc mean no. */
export function confirmDeletion(question) {
  const sheet = document.getElementById("for-good-sheet");
  document.getElementById("for-good-title").textContent = question ?? sheet.dataset.one.split("|")[0].replace("{count}", 1);
  sheet.returnValue = "";
  sheet.showModal();
  return new Promise((resolve) => sheet.addEventListener("close", () => resolve(sheet.returnValue === "yes"), { once: true }));
}
