// The service's events. Each page has one stream.

import { refresh, refreshSoon } from "./live.js";
import { showNotice } from "./messages.js";
import { text } from "./texts.js";

const handlers = new Map(), subscribed = new Set();
/** The run of the service to which this page belongs; null until the stream has reported it. */
let run = null, stream;

/** Calls the handler with the data of each event of this name. */
export function on(name, handler) {
  handlers.set(name, [...(handlers.get(name) ?? []), handler]);
  if (stream) subscribe(name);
  // The stream sends hello only once, so the handler is called now.
  if (name === "hello" && run !== null) handler({ run });
}

function subscribe(name) {
  if (subscribed.has(name)) return;
  subscribed.add(name);
  stream.addEventListener(name, (event) => { for (const handler of handlers.get(name) ?? []) handler(JSON.parse(event.data)); });
}

function setConnected(value) {
  document.body.toggleAttribute("data-connected", value);
  document.body.toggleAttribute("data-lost", !value);
}

function connect() {
  stream = new EventSource("/api/events");
  for (const name of handlers.keys()) subscribe(name);
  stream.addEventListener("open", () => {
    setConnected(true);
    showNotice("lost");
    if (run !== null) refresh();
  });
  stream.addEventListener("error", () => {
    setConnected(false);
    showNotice("lost", text("lost"));
    // The browser reconnects automatically, except when a proxy answered or when this sign-in has ended.
    if (stream.readyState === EventSource.CLOSED) setTimeout(reconnect, 2000);
  });
}

/** Connects again, unless the person must sign in first. */
async function reconnect() {
  try {
    const answer = await fetch(location.href, { method: "HEAD" });
    if (answer.redirected) { location.assign(answer.url); return; }
    if (answer.ok) document.dispatchEvent(new Event("answered"));
  } catch { /* The service does not answer yet, so the stream keeps trying. */ }
  subscribed.clear();
  connect();
}

// The first event of a stream says which run of the service it comes from. After a restart, the service may have
// different pages, so this page reloads. A script with data that a reload would lose cancels "restarted", and the
// person reloads the page later.
on("hello", (hello) => {
  if (run !== null && run !== hello.run) {
    if (document.dispatchEvent(new Event("restarted", { cancelable: true }))) location.reload();
    else showNotice("restarted", text("restarted"), [text("reload"), () => location.reload()]);
  }
  // The library may have changed after the page was rendered.
  if (run === null && String(hello.change) !== document.body.dataset.madeAt) refresh();
  run = hello.run;
});
on("library", refreshSoon);
connect();
