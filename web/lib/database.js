/** The browser's database, IndexedDB, with promises. */

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
export const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/**
 * @param {string} name of a database
 * @param {string[]} stores of it that are worked with
 * @param {(database: IDBDatabase) => void} create makes them, the first time
 * @returns {<T>(mode: IDBTransactionMode, work: (...stores: IDBObjectStore[]) => Promise<T>) => Promise<T>}
 *   does some work in a transaction
 */
export function storesOf(name, stores, create) {
  return async (mode, work) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => create(request.result);
    const database = await done(request);
    database.onversionchange = () => database.close();
    try {
      const transaction = database.transaction(stores, mode);
      return await work(...stores.map((store) => transaction.objectStore(store)));
    } finally {
      database.close();
    }
  };
}
