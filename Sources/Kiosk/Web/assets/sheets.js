// Sheets are dialogs and forms that send the values that a person entered. A refusal is shown in the sheet.

import { describeFailure } from "./acts.js";
import { text } from "./texts.js";

/**
 * Runs the act of a sheet. A failure is shown in the sheet, and nothing that was typed is lost. Returns the error, or
 * null on success.
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
    showMistake(wrong);
    return error;
  } finally {
    primary.textContent = label;
    primary.disabled = false;
    // A button loses the focus when it is disabled.
    if (document.activeElement === document.body) focused.focus();
  }
}

/** Shows a line about a mistake, above the keyboard of the page and the buttons of the sheet. */
function showMistake(wrong) {
  wrong.hidden = false;
  wrong.scrollIntoView({ block: "nearest" });
}

/**
 * Shows in the sheet what is wrong with the value of a field, before anything is sent. Returns true if nothing is, that
 * is, if the mistake is null.
 */
export function checkField(sheet, field, mistake) {
  const wrong = sheet.querySelector(".wrong");
  wrong.textContent = mistake;
  wrong.hidden = true;
  field.setAttribute("aria-invalid", mistake !== null);
  if (mistake === null) return true;
  field.focus();
  field.select();
  showMistake(wrong);
  return false;
}

/**
 * Asks before books are deleted for good, because this cannot be undone. Returns true if the person agrees. Enter and
 * Esc mean no.
 */
export function confirmDeletion(question) {
  const sheet = document.getElementById("for-good-sheet");
  document.getElementById("for-good-title").textContent = question ?? sheet.dataset.one.split("|")[0].replace("{count}", 1);
  sheet.returnValue = "";
  sheet.showModal();
  return new Promise((resolve) => sheet.addEventListener("close", () => resolve(sheet.returnValue === "yes"), { once: true }));
}
