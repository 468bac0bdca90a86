// The photos that were not read yet. They are kept in this browser's own database, so that they survive a reload.

const name = "photos";
let opening = null;

function open() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("bookplate", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(name, { keyPath: "id" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opening;
}

/** Runs one request on the store, and returns its result once it is on disk. */
async function run(mode, makeRequest) {
  const transaction = (await open()).transaction(name, mode);
  const request = makeRequest(transaction.objectStore(name));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error);
  });
}

/** Returns all kept photos, the oldest first, as their ids sort by time. */
export function listPhotos() { return run("readonly", (store) => store.getAll()); }
export function keepPhoto(photo) { return run("readwrite", (store) => store.put(photo)); }
export function dropPhoto(photo) { return run("readwrite", (store) => store.delete(photo.id)); }
