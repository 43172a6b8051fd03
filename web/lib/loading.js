/**
 * Load a model's vocabulary in the worker: from the cache if the file's header is known there,
 * else by parsing it. Only as much of the file is read as its header takes.
 *
 * @import { Step } from "./types.js"
 */

import * as cache from "./cache.js";
import { copied } from "./pyodide.js";
import { cutStrings } from "./strings.js";

// As the reader's first step.
const FIRST = 1 << 16;
// A longer header is not held in memory to be hashed.
const MAX_HEADER = 1 << 26;

/**
 * @typedef {object} File
 * @property {string} name "" if it has none
 * @property {number | null} size in bytes, null if unknown
 * @property {(offset: number, size: number) => Promise<Uint8Array>} read throws if the load is
 *   cancelled
 */

/**
 * @param {any} bridge the module bridge.py
 * @param {string} version of what the cache may hold
 * @param {File} file
 * @param {(step: Step) => void} onStep
 * @param {(work: () => Promise<void>) => void} whenIdle does what nobody waits for
 * @returns {Promise<{ handle: number, info: object }>}
 */
export async function load(bridge, version, file, onStep, whenIdle) {
  onStep({ phase: "reading", loaded: 0, total: file.size });
  const first = await file.read(0, FIRST);
  const start = cache.canKeep() ? await cache.digestOf(first) : "";
  // Whatever is wrong with the storage, the file itself is at hand.
  const known = start && (await fromCache(bridge, version, file, start).catch(() => null));
  return known || parse(bridge, version, file, { start, first }, onStep, whenIdle);
}

/**
 * @param {any} bridge
 * @param {string} version
 * @param {File} file
 * @param {string} start
 */
async function fromCache(bridge, version, file, start) {
  for (const saved of await cache.find(start, file.size, version)) {
    const header = await readAll(file, saved.headerSize);
    if (!header || (await cache.digestOf(header)) !== saved.digest) continue;
    const handle = bridge.restore(await cache.take(saved));
    return { handle, info: saved.info };
  }
  return null;
}

/** @param {File} file @param {number} size */
async function readAll(file, size) {
  const header = new Uint8Array(size);
  for (let at = 0; at < size; ) {
    const part = await file.read(at, size - at);
    if (!part.length) return null;
    header.set(part, at);
    at += part.length;
  }
  return header;
}

/**
 * @param {any} bridge
 * @param {string} version
 * @param {File} file
 * @param {{ start: string, first: Uint8Array }} beginning
 * @param {(step: Step) => void} onStep
 * @param {(work: () => Promise<void>) => void} whenIdle
 */
async function parse(bridge, version, file, { start, first }, onStep, whenIdle) {
  const loading = bridge.Loading(file.size ?? undefined, file.name); // Python's None is undefined
  const parts = [first];
  let end = first.length;
  let last = { offset: 0, data: first };
  /** @param {number} offset @param {number} size */
  const read = async (offset, size) => {
    // What was read last may reach further than was needed then.
    const at = offset - last.offset;
    if (at >= 0 && at < last.data.length) return last.data.subarray(at, at + size);
    onStep({ phase: "reading", loaded: offset, total: file.size });
    const data = await file.read(offset, size);
    if (offset === end && end <= MAX_HEADER) parts.push(data);
    end = offset + data.length;
    last = { offset, data };
    return data;
  };
  try {
    for (let offset = loading.offset(); offset >= 0; offset = loading.offset()) {
      const count = loading.strings();
      const data = count
        ? ((await cutStrings(read, offset, count)) ?? new Uint8Array())
        : await read(offset, loading.size());
      loading.feed(data);
    }
    onStep({ phase: "building the vocabulary" });
    const { handle, info } = JSON.parse(loading.finish());
    // A header that was not read from end to end, or holds no vocabulary, is not kept.
    const size = parts.reduce((sum, part) => sum + part.length, 0);
    const isWhole = size === end && info.bytesRead <= end;
    if (start && isWhole && !["BYTE", "NONE"].includes(info.kind)) {
      whenIdle(() => keep(bridge, version, handle, { start, parts, info, file }));
    }
    return { handle, info };
  } finally {
    loading.destroy();
  }
}

/**
 * @param {any} bridge
 * @param {string} version
 * @param {number} handle
 * @param {{ start: string, parts: Uint8Array[], info: any, file: File }} what
 */
async function keep(bridge, version, handle, { start, parts, info, file }) {
  const header = await new Blob(/** @type {BlobPart[]} */ (parts)).arrayBuffer();
  const bytes = new Uint8Array(header, 0, info.bytesRead);
  const digest = await cache.digestOf(bytes);
  const vocab = copied(bridge.saved(handle), "u8");
  const headerSize = bytes.length;
  const saved = { digest, start, headerSize, fileSize: file.size, version, info };
  await cache.keep(saved, /** @type {Uint8Array} */ (vocab));
}
