/**
 * What was opened before: file handles, where the browser has them, and addresses. They are kept
 * in this browser only, newest first.
 */

import { done, storesOf } from "../lib/database.js";

const MOST = 8;

/**
 * @typedef {object} Recent
 * @property {string} name the key: what it is shown as
 * @property {FileSystemFileHandle} [handle]
 * @property {string} [address] a URL or a name on the hub
 * @property {number} used when, in ms
 */

const withStore = storesOf("pytok-page", ["recent"], (database) => {
  database.createObjectStore("recent", { keyPath: "name" });
});

/** @param {Recent[]} all */
const newestFirst = (all) => all.sort((one, other) => other.used - one.used);

/** @returns {Promise<Recent[]>} */
export const list = () => withStore("readonly", async (store) => newestFirst(await done(store.getAll())));

/** @param {Omit<Recent, "used">} what */
export const remember = (what) =>
  withStore("readwrite", async (store) => {
    await done(store.put({ ...what, used: Date.now() }));
    for (const { name } of newestFirst(await done(store.getAll())).slice(MOST)) store.delete(name);
  });

/** Forget them all. */
export const forget = () => withStore("readwrite", (store) => done(store.clear()));

/**
 * Open a file again; the browser may ask the person for leave.
 *
 * @param {FileSystemFileHandle} handle
 * @returns {Promise<File>}
 * @throws {Error} if leave is not given, or the file has gone
 */
export async function reopen(handle) {
  // Not in every browser's handles, nor in TypeScript's.
  const asking = /** @type {{ requestPermission?: (what: object) => Promise<string> }} */ (
    /** @type {unknown} */ (handle)
  );
  const answer = (await asking.requestPermission?.({ mode: "read" })) ?? "granted";
  if (answer !== "granted") throw new Error("the browser was not allowed to read it again");
  try {
    return await handle.getFile();
  } catch {
    throw new Error("it is not there any more");
  }
}
