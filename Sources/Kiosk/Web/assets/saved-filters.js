// Saved filters. The search, the filters and the order of the list are saved under a name, and shown beside the views.

import { attempt } from "./acts.js";
import { refresh } from "./live.js";
import { toast } from "./messages.js";
import { callAPI } from "./requests.js";
import { pageText } from "./selection.js";
import { submitSheet } from "./sheets.js";

const sheet = document.getElementById("filter-sheet"), title = document.getElementById("filter-title");
const name = document.getElementById("filter-name");
/** The id of the filter to rename, or null to save a new one. */
let renamed = null;

function open(id, current) {
  renamed = id;
  title.textContent = title.dataset[id ? "rename" : "save"];
  sheet.querySelector(".hint").hidden = id !== null;
  sheet.querySelector(".wrong").hidden = true;
  name.value = current;
  sheet.showModal();
  name.select();
}

const makeQuery = (filter) => `filter:"${filter.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/** Makes the buttons work. showList shows the list for the parameters of an address. */
export function startSavedFilters(showList) {
  const showFilter = (filter) => {
    const view = new URLSearchParams(location.search).get("view") ?? "";
    // The service writes the name without quotation marks where it can, so the address is read from its chip.
    return refresh().then(() => {
      const chip = [...document.querySelectorAll(".saved")].find((link) => link.lastChild.textContent === filter);
      showList(chip ? new URLSearchParams(new URL(chip.href).search) : new URLSearchParams({ q: makeQuery(filter), view }));
    });
  };
  sheet.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wanted = name.value.trim();
    if (!wanted) return;
    let answer;
    const failure = await submitSheet(sheet, async () => {
      answer = renamed
        ? await callAPI("PATCH", `/api/filters/${renamed}`, { name: wanted })
        : await callAPI("POST", "/api/filters", { name: wanted, address: location.search.slice(1) });
    });
    if (failure) return;
    sheet.close();
    toast(pageText(renamed ? "renamed" : "saved", { name: answer.name }), { change: answer.change });
    await showFilter(answer.name);
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("#save-filter, #rename-filter, #delete-filter");
    if (!button) return;
    if (button.id === "save-filter") open(null, "");
    else if (button.id === "rename-filter") open(button.dataset.id, button.dataset.name);
    else attempt(async () => {
      const current = document.querySelector(".saved[aria-current]").lastChild.textContent;
      const { change } = await callAPI("DELETE", `/api/filters/${button.dataset.id}`);
      toast(pageText("deleted", { name: current }), { change });
      showList(new URLSearchParams());
      document.getElementById("q").focus({ preventScroll: true });
    });
  });
}
