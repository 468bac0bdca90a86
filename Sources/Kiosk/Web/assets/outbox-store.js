// What this browser keeps for the station: numbers that wait to be sent, and photos that have not been read yet. It is
// kept in the browser's own database, so that it survives a reload. Pages use it, and so does the service worker.

/** The kinds of what is kept. The ids of both are those of their requests and sort by time. */
const kinds = ["numbers", "photos"];
/**
 * What is on this page alone, because it is being written or could not be, and is lost if the page is left now: a map
 * for each kind, by id.
 */
const unkept = Object.fromEntries(kinds.map((kind) => [kind, new Map()]));
/** The ids of what this page has forgotten. It may still be in the database if that cannot be written. */
const forgotten = new Set();
// A channel does not hear what it sends itself, so that this page, too, hears of its changes from another one.
const channelName = "bookplate.outbox", sender = new BroadcastChannel(channelName), receiver = new BroadcastChannel(channelName);
let opening = null, isBlocked = false;

function open() {
  // Another request would wait for the one that is blocked, and report nothing.
  if (isBlocked) return Promise.reject(new Error("blocked"));
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("bookplate", 2);
    request.onupgradeneeded = () => {
      for (const kind of kinds) {
        if (!request.result.objectStoreNames.contains(kind)) request.result.createObjectStore(kind, { keyPath: "id" });
      }
    };
    request.onsuccess = () => {
      const database = request.result;
      if (isBlocked) {
        isBlocked = false;
        opening = Promise.resolve(database);
        for (const kind of kinds) for (const entry of unkept[kind].values()) keep(kind, entry);
      }
      // Some systems close the databases of pages that sleep.
      database.onclose = () => { opening = null; };
      database.onversionchange = () => { database.close(); opening = null; };
      resolve(database);
    };
    request.onerror = () => { isBlocked = false; reject(request.error); };
    // A page of an earlier version has it open.
    request.onblocked = () => { isBlocked = true; reject(new Error("blocked")); };
  });
  opening.catch(() => { opening = null; });
  return opening;
}

/** Begins a transaction, in a database that is opened again if it was closed. */
async function begin(kind, mode) {
  const options = { durability: "strict" };
  try {
    return (await open()).transaction(kind, mode, options);
  } catch {
    opening = null;
    return (await open()).transaction(kind, mode, options);
  }
}

/** Runs requests on the entries of a kind, and returns the result of the last once all of them are on disk. */
async function run(kind, mode, makeRequest) {
  const transaction = await begin(kind, mode), request = makeRequest(transaction.objectStore(kind));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error);
  });
}

/** Returns all entries of a kind, the oldest first. */
export async function listKept(kind) {
  const entries = new Map();
  try {
    for (const entry of await run(kind, "readonly", (store) => store.getAll())) entries.set(entry.id, entry);
  } catch { /* Without its database, the browser keeps none. */ }
  for (const [id, entry] of unkept[kind]) entries.set(id, entry);
  return [...entries.values()].filter(({ id }) => !forgotten.has(id)).sort((one, other) => one.id < other.id ? -1 : 1);
}

/** Keeps an entry. Returns false if the browser could not, so that the entry is on this page alone. */
export async function keep(kind, entry) {
  unkept[kind].set(entry.id, entry);
  try {
    await run(kind, "readwrite", (store) => store.put(entry));
    if (unkept[kind].get(entry.id) === entry) unkept[kind].delete(entry.id);
    return true;
  } catch {
    return false;
  } finally {
    sender.postMessage(kind);
  }
}

/** Keeps the new state of an entry, unless it was forgotten meanwhile. */
export async function amend(kind, entry) {
  if (unkept[kind].has(entry.id)) unkept[kind].set(entry.id, entry);
  try {
    await run(kind, "readwrite", (store) => {
      const counting = store.count(entry.id);
      counting.onsuccess = () => { if (counting.result > 0) store.put(entry); };
      return counting;
    });
  } catch { /* After a reload, the entry has its earlier state and is sent again. */ }
  sender.postMessage(kind);
}

/** Forgets an entry. Returns true if it was still there: another page or the service worker may have been first. */
export async function forget(kind, id) {
  if (forgotten.has(id)) return false;
  forgotten.add(id);
  const wasHere = unkept[kind].delete(id);
  try {
    const count = await run(kind, "readwrite", (store) => {
      const counting = store.count(id);
      store.delete(id);
      return counting;
    });
    return wasHere || count > 0;
  } catch {
    // After a reload, it is sent once more, and the station captures it only once.
    return true;
  } finally {
    sender.postMessage(kind);
  }
}

/** Returns true if an entry is still kept, and also if the browser cannot say it. */
export async function isKept(kind, id) {
  if (forgotten.has(id)) return false;
  return unkept[kind].has(id) || await run(kind, "readonly", (store) => store.count(id)).then((count) => count > 0, () => true);
}

/** Returns true if entries would be lost if this page were left now. */
export const isAtRisk = () => kinds.some((kind) => unkept[kind].size > 0);

/** Calls the handler whenever this page, another one or the service worker has changed what is kept of a kind. */
export function onKept(kind, handler) {
  receiver.addEventListener("message", ({ data }) => { if (data === kind) handler(); });
}
