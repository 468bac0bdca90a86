// The Import page: sends a file, shows the progress, and sends the choices for the dry run. Everything else is in the
// page, which the service renders for each state of the import.

import { attempt, describeFailure } from "./acts.js";
import { complete } from "./complete.js";
import { on } from "./events.js";
import { refresh } from "./live.js";
import { callAPI } from "./requests.js";

const find = (id) => document.getElementById(id);

/** Names the file in the address, so that the page can say after a restart of the service that it is gone. */
function nameFile() {
  const { file } = find("import").dataset, address = new URL(location.href);
  if (!file || address.searchParams.get("file") === file) return;
  address.searchParams.set("file", file);
  history.replaceState(null, "", address);
}

function showWrong(message) {
  find("import-sending").textContent = "";
  find("import-wrong").textContent = message;
  find("import-wrong").hidden = false;
}

/** Sends the file that a person chose. The service then begins the dry run. */
async function send(input) {
  const [file] = input.files, { limit, sending, tooLarge } = find("import").dataset;
  if (!file) return;
  input.value = "";
  find("import-wrong").hidden = true;
  if (file.size > Number(limit)) { showWrong(tooLarge); return; }
  find("import-sending").textContent = sending;
  try {
    const body = new Blob([file], { type: "application/octet-stream" });
    await callAPI("POST", `/api/imports?name=${encodeURIComponent(file.name.slice(-120))}`, body);
    forget();
    await refresh();
    find("main").focus();
  } catch (error) {
    showWrong(describeFailure(error));
  }
}

/** Removes the name of an earlier file from the address. */
function forget() { history.replaceState(null, "", location.pathname); }

document.addEventListener("change", ({ target }) => { if (target.id === "import-file") send(target); });

document.addEventListener("submit", (event) => {
  const form = event.target.closest("#import-choices form");
  if (!form) return;
  event.preventDefault();
  const values = new FormData(form), { file } = find("import").dataset;
  const body = { format: values.get("format") || null };
  if (values.has("reader")) body.reader = values.get("reader");
  if (values.has("shelf")) {
    body.shelf = values.get("shelf").trim() || null;
    body.tags = values.get("tags").split(",").map((tag) => tag.trim()).filter(Boolean);
    body.owned = values.has("owned");
  }
  attempt(async () => {
    await callAPI("PUT", `/api/imports/${file}/choices`, body);
    // The page is about to show something else, although the focus may be in one of its fields.
    document.activeElement.blur();
    await refresh();
  });
});

document.addEventListener("click", ({ target }) => { if (target.closest("#import-discard")) forget(); });

on("import", ({ id, phase, read, size }) => {
  const { file, phase: shown } = find("import").dataset, progress = find("import-progress");
  if (id !== (file ?? null) || phase !== (shown === "none" ? null : shown)) refresh();
  else if (progress) [progress.max, progress.value] = [Math.max(1, size), read];
});

// After a refresh, the fields of the new region complete names, too.
function prepare() {
  nameFile();
  for (const field of document.querySelectorAll("#import [data-complete]")) complete(field);
}
new MutationObserver(prepare).observe(find("main"), { childList: true });
prepare();
