/**
 * The worker that owns Pyodide. It answers the calls of protocol.js; only cloneable values
 * leave it, and every proxy of a Python object ends here.
 *
 * @import { PageMessage, Step, WorkerScope, WorkerSource } from "./types.js"
 */

import * as cache from "./cache.js";
import { load } from "./loading.js";
import { PytokError, alive, failure, heard, progress, result, wish } from "./protocol.js";
import { copied, startPyodide } from "./pyodide.js";

const scope = /** @type {WorkerScope} */ (/** @type {unknown} */ (self));

/** @type {any} the module bridge.py */
let bridge;
let version = ""; // of all that computes
/** @type {Map<number, (data: Uint8Array | null) => void>} */
const wishes = new Map();
let callCount = 0;
// How long nothing is to be asked before other work is done, in ms.
const IDLE = 1500;
// How long a text is encoded before others are listened to, in s.
const SLICE = 0.05;
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
  const isPlain = new URL(import.meta.url).searchParams.get("start") === "plain";
  const started = await startPyodide(tellStart, isPlain);
  bridge = started.bridge;
  version = started.assets.version;
  tellStart({ phase: "ready" });
  cache.warm();
}

// Who waits for this lock learns at once that the worker is no more, however it ended.
if (navigator.locks) {
  const lock = `pytok-worker-${crypto.randomUUID()}`;
  navigator.locks.request(lock, () => {
    scope.postMessage(alive(lock));
    return new Promise(() => {});
  });
}

/** @param {number} id */
function checkWanted(id) {
  if (cancelled.has(id)) throw new DOMException("The call was cancelled.", "AbortError");
}

/**
 * Do what nobody waits for, once nothing has been asked for a while.
 *
 * @param {() => Promise<void>} work
 */
function whenIdle(work) {
  const count = callCount;
  setTimeout(() => {
    if (active.size || callCount !== count) whenIdle(work);
    else work().catch(() => {}); // it is a convenience
  }, IDLE);
}

/**
 * @typedef {{ handle: number, text: string, addSpecial: boolean, parseSpecial: boolean }} Text
 * @typedef {{ handle: number, ids: Int32Array }} Ids
 */

const methods = {
  /** @param {{ source: WorkerSource, name: string }} params @param {number} id */
  async load({ source, name }, id) {
    const file = {
      name,
      size: "blob" in source ? source.blob.size : source.size,
      /** @param {number} offset @param {number} size */
      async read(offset, size) {
        const data = await read(source, offset, size, id);
        checkWanted(id);
        return data;
      },
    };
    return load(bridge, version, file, (step) => scope.postMessage(progress(id, step)), whenIdle);
  },

  /** @param {Text} params @param {number} id */
  async encode({ handle, text, addSpecial, parseSpecial }, id) {
    const encoding = bridge.Encoding(handle, text, addSpecial, parseSpecial);
    try {
      for (;;) {
        const ids = encoding.advance(SLICE);
        if (ids) return copied(ids, "i32");
        const { done, total } = encoding;
        scope.postMessage(progress(id, { phase: "encoding", loaded: done, total }));
        await new Promise((resolve) => setTimeout(resolve)); // a cancel may have come
        checkWanted(id);
      }
    } finally {
      encoding.destroy();
    }
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

  /** @param {Ids & { text: string }} params */
  spans({ handle, text, ids }) {
    const spans = bridge.spans(handle, text, ids);
    return spans ? copied(spans, "i32") : null;
  },

  /** @param {{ handle: number }} params */
  dispose({ handle }) {
    bridge.dispose(handle);
  },
};

/**
 * @param {WorkerSource} source
 * @param {number} offset
 * @param {number} size
 * @param {number} id
 */
async function read(source, offset, size, id) {
  if ("blob" in source) {
    try {
      return new Uint8Array(await source.blob.slice(offset, offset + size).arrayBuffer());
    } catch {
      const reason = "the file cannot be read any more: it was moved, deleted or changed";
      throw new DOMException(reason, "NotReadableError");
    }
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

// What Pyodide says from then on when its memory is not to be trusted any more.
const FATAL = /^Pyodide already fatally failed/;
let broken = false;

/** @param {unknown} error what a call threw @returns {unknown} what to tell the page */
function described(error) {
  if (!(error instanceof Error)) return asError(error);
  if (/** @type {{ pyodide_fatal_error?: boolean }} */ (error).pyodide_fatal_error) broken = true;
  if (broken || FATAL.test(error.message)) {
    const { message } = error;
    return new PytokError({ name: "WorkerError", message: `Python has broken down: ${message}` });
  }
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
    if (active.has(message.id)) {
      cancelled.add(message.id);
      scope.postMessage(heard(message.id));
    }
    wishes.get(message.id)?.(null);
    wishes.delete(message.id);
  } else {
    const { id, method, params } = message;
    active.add(id);
    callCount++;
    try {
      await started.catch(startFailed);
      checkWanted(id);
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
