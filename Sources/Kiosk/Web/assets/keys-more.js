// What few keys lead to: their table, and taking back the last change of all screens.

import { ask, Refusal, text, toast } from "./app.js";
import { prepare } from "./keys.js";

const style = document.createElement("link");
style.rel = "stylesheet";
style.href = "/assets/keys.css";
document.head.append(style);

/** The table of keys, from its own page. */
export async function show() {
  let dialog = document.getElementById("keys-dialog");
  if (!dialog) {
    const answer = await fetch("/keys");
    if (!answer.ok) throw new Refusal(answer.status);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    dialog = document.createElement("dialog");
    dialog.id = "keys-dialog";
    dialog.setAttribute("aria-labelledby", "keys-title");
    dialog.append(document.adoptNode(fresh.getElementById("keys")));
    document.body.append(dialog);
  }
  prepare(dialog);
  dialog.showModal();
}

/** At the station its own last act is taken back, by a button that is there while there is one. Elsewhere the last change is shown first, with
 * who made it, because that may be somebody at another screen; its button has the same key. */
export async function takeBack() {
  if (["/scan", "/intake"].includes(location.pathname)) { toast(text("undoNothing")); return; }
  const { changes } = await ask("GET", "/api/changes?limit=50"), last = changes.find((change) => !change.undone);
  toast(last ? text("undoLast", last) : text("undoNothing"), { change: last?.id });
}
