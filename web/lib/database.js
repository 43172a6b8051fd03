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
  /** @type {Promise<IDBDatabase> | null} open as long as nobody changes it, or takes it away */
  let opened = null;
  async function open() {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => create(request.result);
    const database = await done(request);
    database.onversionchange = () => {
      database.close();
      opened = null;
    };
    database.onclose = () => (opened = null);
    return database;
  }
  return async (mode, work) => {
    opened ??= open();
    const database = await opened.catch((error) => {
      opened = null;
      throw error;
    });
    const transaction = database.transaction(stores, mode);
    return work(...stores.map((store) => transaction.objectStore(store)));
  };
}
