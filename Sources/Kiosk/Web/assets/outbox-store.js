// What this browser keeps for the station: numbers that wait to be sent, and photos that were not read yet. It is kept in
// the browser's own database, so that it survives a reload. Pages use it, and so does the service worker.

/** The kinds of what is kept. The ids of both are those of their requests and sort by time. */
const kinds = ["numbers", "photos"];
/** What the browser could not keep, which is lost when the page is left: a map for each kind, by id. */
const unkept = Object.fromEntries(kinds.map((kind) => [kind, new Map()]));
// A channel does not hear what it sends itself, so that this page, too, hears of its changes from another one.
const channelName = "bookplate.outbox", sender = new BroadcastChannel(channelName), receiver = new BroadcastChannel(channelName);
let opening = null;

function open() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("bookplate", 2);
    request.onupgradeneeded = () => {
      for (const kind of kinds) {
        if (!request.result.objectStoreNames.contains(kind)) request.result.createObjectStore(kind, { keyPath: "id" });
      }
    };
    request.onsuccess = () => {
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
    // A page of an earlier version has it open.
    request.onblocked = () => reject(new Error("blocked"));
  });
  opening.catch(() => { opening = null; });
  return opening;
}

/** Runs requests on the entries of a kind, and returns the result of the last once all of them are on disk. */
async function run(kind, mode, makeRequest) {
  const transaction = (await open()).transaction(kind, mode, { durability: "strict" });
  const request = makeRequest(transaction.objectStore(kind));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error);
  });
}

/** Returns all entries of a kind, the oldest first. */
export async function listKept(kind) {
  let kept = [];
  try { kept = await run(kind, "readonly", (store) => store.getAll()); } catch { /* Without its database, the browser keeps none. */ }
  return [...unkept[kind].values(), ...kept];
}

/** Keeps an entry, or its new state. Returns false if the browser could not, so that the entry is on this page alone. */
export async function keep(kind, entry) {
  try {
    await run(kind, "readwrite", (store) => store.put(entry));
    unkept[kind].delete(entry.id);
    return true;
  } catch {
    unkept[kind].set(entry.id, entry);
    return false;
  } finally {
    sender.postMessage(kind);
  }
}

/** Forgets an entry. Returns true if it was still there: another page or the service worker may have been first. */
export async function forget(kind, id) {
  if (unkept[kind].delete(id)) return true;
  try {
    const count = await run(kind, "readwrite", (store) => {
      const counting = store.count(id);
      store.delete(id);
      return counting;
    });
    sender.postMessage(kind);
    return count > 0;
  } catch {
    // It is sent or shown once more after a reload; the station captures it only once.
    return true;
  }
}

/** Returns true if an entry is still kept. */
export async function isKept(kind, id) {
  return unkept[kind].has(id) || await run(kind, "readonly", (store) => store.count(id)).then((count) => count > 0, () => false);
}

/** Returns true if entries would be lost if this page were left now. */
export const isAtRisk = () => kinds.some((kind) => unkept[kind].size > 0);

/** Calls the handler whenever this page, another one or the service worker has changed what is kept of a kind. */
export function onKept(kind, handler) {
  receiver.addEventListener("message", ({ data }) => { if (data === kind) handler(); });
}
