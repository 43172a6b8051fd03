/**
 * Vocabularies that were loaded before, kept in the browser, so that a model opens faster the
 * next time. The key is the digest of the file's whole header: a file that differs in a single
 * byte of it is another file. Entries of another version of pytok are never used.
 *
 * @import { Saved } from "./types.js"
 */

import { done, storesOf } from "./database.js";

// All vocabularies together, in bytes; those used longest ago make room.
const LIMIT = 64 * 2 ** 20;

const withStores = storesOf("pytok", ["entries", "vocabularies"], (database) => {
  database.createObjectStore("entries", { keyPath: "digest" }).createIndex("start", "start");
  database.createObjectStore("vocabularies");
});

/** @param {Uint8Array} bytes @returns {Promise<string>} SHA-256 in hexadecimal */
export async function digestOf(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (bytes));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether anything can be kept here: plain http: has no digests, some browsers no storage. */
export const canKeep = () => Boolean(globalThis.crypto?.subtle && globalThis.indexedDB);

/** Open the database before it is needed: that takes a while. */
export const warm = () => (canKeep() ? keptBytes().catch(() => {}) : undefined);

/**
 * @param {string} start digest of a file's first bytes
 * @param {number | null} fileSize
 * @param {string} version
 * @returns {Promise<Saved[]>} what a file that starts so may be: its digest has the last word
 */
export const find = (start, fileSize, version) =>
  withStores("readonly", async (entries) => {
    /** @type {Saved[]} */
    const all = await done(entries.index("start").getAll(start));
    return all.filter((saved) => saved.fileSize === fileSize && saved.version === version);
  });

/** @param {Saved} saved @returns {Promise<Uint8Array>} its vocabulary; it counts as used now */
export const take = (saved) =>
  withStores("readwrite", async (entries, vocabs) => {
    entries.put({ ...saved, used: Date.now() });
    return done(vocabs.get(saved.digest));
  });

/** @param {Omit<Saved, "used" | "size">} saved @param {Uint8Array} vocab */
export const keep = (saved, vocab) =>
  withStores("readwrite", async (entries, vocabs) => {
    const size = vocab.byteLength;
    if (size > LIMIT) return;
    /** @type {Saved[]} */
    const all = await done(entries.getAll());
    const others = all.filter(({ digest }) => digest !== saved.digest);
    let room = LIMIT - size;
    for (const other of others.sort((one, two) => two.used - one.used)) {
      room -= other.size;
      if (room >= 0 && other.version === saved.version) continue;
      entries.delete(other.digest);
      vocabs.delete(other.digest);
    }
    vocabs.put(vocab, saved.digest);
    await done(entries.put({ ...saved, size, used: Date.now() }));
  });

/** @returns {Promise<number>} how many bytes all vocabularies take */
export const keptBytes = () =>
  withStores("readonly", async (entries) => {
    /** @type {Saved[]} */
    const all = await done(entries.getAll());
    return all.reduce((sum, { size }) => sum + size, 0);
  });

/** Forget all vocabularies. */
export const clear = () =>
  withStores("readwrite", async (entries, vocabs) => {
    entries.clear();
    await done(vocabs.clear());
  });
