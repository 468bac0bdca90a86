// Saving several at once, on the Scan and the Intake page: what the page showed, by name, and a word on what was gone meanwhile.

import { ask, attempt, refresh, text, toast } from "./app.js";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-saves]");
  if (!button || button.hasAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  const ids = JSON.parse(button.dataset.saves);
  await attempt(async () => {
    const { saved, owned, change } = await ask("POST", "/api/station/rows/save", { ids, anotherCopy: false });
    const words = [saved > 0 && text(saved === 1 ? "savedOne" : "savedMany", { count: saved }), owned > 0 && text("savedOwned", { count: owned })].filter(Boolean).join(" ");
    if (words) toast(words, { change });
    const said = document.getElementById("said");
    if (said && saved > 0) [said.textContent, said.dataset.of] = [words, change];
    if (saved + owned < ids.length) toast(text("savedGone", { count: ids.length - saved - owned }), { isTrouble: true });
  });
  button.removeAttribute("aria-busy");
  await refresh();
});
