// What the Book page's sheets share.

import { Refusal, text, toast } from "./app.js";

/** The page's own words that its scripts need. */
export const words = document.getElementById("words").dataset;

/** Runs an act whose refusal is told beside what was entered. Gives whether it worked. */
export async function acting(form, act) {
  const wrong = form.querySelector(".wrong"), button = form.querySelector(".primary");
  const label = button?.textContent;
  if (wrong) wrong.hidden = true;
  if (button) { button.disabled = true; button.textContent = words.saving; }
  try {
    await act();
    return true;
  } catch (error) {
    const told = error instanceof Refusal ? error.message : text("lost");
    if (wrong) { wrong.textContent = told; wrong.hidden = false; } else toast(told, { isTrouble: true });
    form.dispatchEvent(new CustomEvent("refused", { detail: error }));
    return false;
  } finally {
    if (button) { button.disabled = false; button.textContent = label; }
  }
}

/** A number as people write it into a field, with a comma or a point; NaN for none. */
export const number = (field) => field.value.trim() === "" ? NaN : Number(field.value.trim().replace(",", ".").replace(/\s*%$/, ""));
