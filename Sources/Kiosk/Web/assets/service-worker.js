// The service worker of other devices. While the station is away, it shows a page on which numbers and photos are kept
// for it, and delivers them when the device is connected again, even if no page is open.

import { sendNumber } from "./outbox.js";
import { amend, forget, listKept } from "./outbox-store.js";
import { sendPhoto } from "./photo-files.js";

/** The address of the page that is shown while the station is away. */
const away = "/away";
/** The cache of this version of the page, which its address names (install.js). */
const name = `bookplate${location.search}`;
/** The pictures of its styles. */
const pictures = ["/assets/photo.svg"];
/** The time after which a station that does not answer counts as away, in milliseconds. */
const patience = 15_000;

async function keepShell() {
  const page = await fetch(away, { cache: "no-store" });
  if (!page.ok) throw new Error(`HTTP ${page.status}`);
  const files = (await page.clone().text()).matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g);
  const cache = await caches.open(name);
  await cache.addAll([...new Set([...files].map(([, file]) => file)), ...pictures]);
  await cache.put(away, page);
}

async function dropOthers() {
  for (const other of await caches.keys()) if (other !== name) await caches.delete(other);
  await registration.navigationPreload?.enable();
  await clients.claim();
}

/** The clients that show the page for a station that is away. */
const waiting = new Set();

async function openPage({ request, preloadResponse, resultingClientId }) {
  const load = async () => await preloadResponse ?? fetch(request);
  try {
    const answer = await Promise.race([load(), new Promise((_, fail) => { setTimeout(fail, patience); })]);
    // A proxy answers so if the station does not.
    if ([502, 504].includes(answer.status)) throw new Error(`HTTP ${answer.status}`);
    return answer;
  } catch {
    waiting.add(resultingClientId);
    return await caches.match(away, { ignoreVary: true }) ?? Response.error();
  }
}

async function openFile({ request, clientId }) {
  const find = () => caches.match(request, { ignoreVary: true });
  try {
    return waiting.has(clientId) && await find() || await fetch(request);
  } catch {
    return await find() ?? Response.error();
  }
}

/** Sends all that is kept, also while no page is open. Throws if something must be sent again. */
export async function sendKept() {
  for (const number of await listKept("numbers")) {
    const { refusal } = await sendNumber(number);
    if (refusal === undefined) await forget("numbers", number.id);
    else await amend("numbers", { ...number, refusal });
  }
  for (const photo of await listKept("photos")) if (photo.reason === undefined) await sendPhoto(photo);
}

addEventListener("install", (event) => { event.waitUntil(keepShell().then(() => skipWaiting())); });
addEventListener("activate", (event) => { event.waitUntil(dropOthers()); });
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(openPage(event));
  else if (new URL(request.url).pathname.startsWith("/assets/")) event.respondWith(openFile(event));
});
addEventListener("sync", (event) => { event.waitUntil(sendKept()); });
