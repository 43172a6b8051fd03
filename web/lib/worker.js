/**
 * The worker that owns Pyodide. It answers the calls of protocol.js; only cloneable values
 * leave it, and every proxy of a Python object ends here.
 *
 * @import { PageMessage, Step, WorkerScope, WorkerSource } from "./types.js"
 */

import { PytokError, failure, progress, result, wish } from "./protocol.js";
import { importBridge, startPyodide } from "./pyodide.js";

const scope = /** @type {WorkerScope} */ (/** @type {unknown} */ (self));

/** @type {any} the module bridge.py */
let bridge;
/** @type {Map<number, (data: Uint8Array | null) => void>} */
const wishes = new Map();
/** @type {Set<number>} calls that are being answered */
const active = new Set();
/** @type {Set<number>} those of them whose answer is no longer wanted */
const cancelled = new Set();

// Some faults inside Pyodide's start, such as a wasm file that is not there, reach nobody: the
// promise of the start stays open. Then this is what ends it.
const crashed = new Promise((_, reject) => {
  addEventListener("unhandledrejection", (event) => reject(event.reason), { once: true });
});
const started = Promise.race([start(), crashed]);
started.catch(() => {}); // every call reports it

/** @param {Step} step */
function tellStart(step) {
  scope.postMessage(progress(null, step));
}

async function start() {
  bridge = await importBridge(await startPyodide(tellStart));
  tellStart({ phase: "ready" });
}

/**
 * @typedef {{ handle: number, text: string, addSpecial: boolean, parseSpecial: boolean }} Text
 * @typedef {{ handle: number, ids: Int32Array }} Ids
 */

const methods = {
  /** @param {{ source: WorkerSource }} params @param {number} id */
  async load({ source }, id) {
    const size = "blob" in source ? source.blob.size : source.size;
    const loading = bridge.Loading(size ?? undefined); // Python's None is undefined, not null
    try {
      for (let offset = loading.offset(); offset >= 0; offset = loading.offset()) {
        scope.postMessage(progress(id, { phase: "reading", loaded: offset, total: size }));
        const data = await read(source, offset, loading.size(), id);
        if (cancelled.has(id)) throw new DOMException("The load was cancelled.", "AbortError");
        loading.feed(data);
      }
      scope.postMessage(progress(id, { phase: "building the vocabulary" }));
      return JSON.parse(loading.finish());
    } finally {
      loading.destroy();
    }
  },

  /** @param {Text} params */
  encode({ handle, text, addSpecial, parseSpecial }) {
    return copied(bridge.encode(handle, text, addSpecial, parseSpecial), "i32");
  },

  /** @param {Text} params */
  countTokens({ handle, text, addSpecial, parseSpecial }) {
    return bridge.count_tokens(handle, text, addSpecial, parseSpecial);
  },

  /** @param {Ids} params */
  decode({ handle, ids }) {
    return bridge.decode(handle, ids);
  },

  /** @param {Ids} params */
  pieces({ handle, ids }) {
    const parts = bridge.pieces(handle, ids);
    const [bytes, ends, attrs] = parts;
    parts.destroy();
    return { bytes: copied(bytes, "u8"), ends: copied(ends, "i32"), attrs: copied(attrs, "i32") };
  },

  /** @param {{ handle: number }} params */
  dispose({ handle }) {
    bridge.dispose(handle);
  },
};

/**
 * Copy a Python buffer out of wasm memory, and let go of it.
 *
 * @param {any} proxy
 * @param {string} type
 */
function copied(proxy, type) {
  const buffer = proxy.getBuffer(type);
  try {
    return buffer.data.slice();
  } finally {
    buffer.release();
    proxy.destroy();
  }
}

/**
 * @param {WorkerSource} source
 * @param {number} offset
 * @param {number} size
 * @param {number} id
 */
async function read(source, offset, size, id) {
  if ("blob" in source) {
    return new Uint8Array(await source.blob.slice(offset, offset + size).arrayBuffer());
  }
  const data = await new Promise((resolve) => {
    wishes.set(id, resolve);
    scope.postMessage(wish(id, offset, size));
  });
  // The page knows why, and has told the caller; this only ends the load here.
  if (data === null) throw new DOMException("The file could not be read.", "NotReadableError");
  return /** @type {Uint8Array} */ (data);
}

/** @param {unknown} error @returns {never} */
function startFailed(error) {
  const { message } = /** @type {Error} */ (described(error));
  throw new PytokError({ name: "WorkerError", message: `Python could not be started: ${message}` });
}

/** @param {unknown} thrown something that is no Error; Pyodide throws such @returns {Error} */
function asError(thrown) {
  const { message, status } = /** @type {{ message?: string, status?: number }} */ (thrown ?? {});
  return new Error(message ?? (status ? `the server answered ${status}` : String(thrown)));
}

/** @param {unknown} error what a call threw @returns {unknown} what to tell the page */
function described(error) {
  if (!(error instanceof Error)) return asError(error);
  const type = /** @type {{ type?: string }} */ (error).type;
  if (!type) return error;
  const known = bridge ? JSON.parse(bridge.failure()) : {};
  if (known.name === type) return new PytokError(known);
  // Not one of ours: the last line of the traceback names it.
  const message = error.message.trim().split("\n").at(-1);
  return new PytokError({ name: type, message });
}

scope.onmessage = async (/** @type {MessageEvent<PageMessage>} */ event) => {
  const message = event.data;
  if (message.type === "bytes") {
    wishes.get(message.id)?.(message.data);
    wishes.delete(message.id);
  } else if (message.type === "cancel") {
    if (active.has(message.id)) cancelled.add(message.id);
    wishes.get(message.id)?.(null);
    wishes.delete(message.id);
  } else {
    const { id, method, params } = message;
    active.add(id);
    try {
      await started.catch(startFailed);
      const value = await /** @type {any} */ (methods)[method](params, id);
      scope.postMessage(result(id, value));
    } catch (error) {
      scope.postMessage(failure(id, described(error)));
    } finally {
      active.delete(id);
      cancelled.delete(id);
    }
  }
};
