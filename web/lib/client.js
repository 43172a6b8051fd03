/**
 * Tokenize in the browser, exactly as llama.cpp does, from the vocabulary inside a GGUF.
 *
 *     import { Tokenizer } from "./lib/client.js";
 *     const tokenizer = await Tokenizer.load(file);
 *     const ids = await tokenizer.encode("Hello");
 *
 * @import { CallOptions, EncodeOptions, Info, LoadOptions, Pieces, Source } from "./types.js"
 */

import { Engine } from "./engine.js";
import { fileOfPage, parseHubName, resolveHubName } from "./hub.js";
import { PytokError } from "./protocol.js";
import { openRemote } from "./remote.js";

export { clear as clearCache, keptBytes } from "./cache.js";
export { Engine } from "./engine.js";
export { PytokError } from "./protocol.js";

/** @type {Engine | undefined} */
let sharedEngine;

/** @returns {Engine} the one that all tokenizers share by default; a new one if it was ended */
function defaultEngine() {
  if (!sharedEngine || sharedEngine.dead) sharedEngine = new Engine();
  return sharedEngine;
}

/**
 * A model's tokenizer; its work is done in the engine's worker. If that had to be replaced, the
 * next call loads the model again, from where it came.
 */
export class Tokenizer {
  #engine;
  /** @type {(signal?: AbortSignal) => Promise<Loaded>} */
  #load;
  /** @type {Promise<Loaded>} */
  #loaded;
  #disposed = false;

  /**
   * @param {Engine} engine
   * @param {(signal?: AbortSignal) => Promise<Loaded>} load
   * @param {Loaded} loaded
   */
  constructor(engine, load, loaded) {
    this.#engine = engine;
    this.#load = load;
    this.#loaded = Promise.resolve(loaded);
    /** What the file says of itself and its vocabulary. */
    this.info = loaded.info;
  }

  /**
   * Read a GGUF's header, never the whole file.
   *
   * @param {Source} source a File or Blob, a buffer, a name on the hub, or a URL (any other string)
   * @param {LoadOptions} [options]
   * @returns {Promise<Tokenizer>}
   * @throws {PytokError} named GGUFError, VocabError or UnsupportedError if the file is at
   *   fault, WorkerError if the worker is; the signal's reason; a DOMException named
   *   NetworkError if a URL cannot be read, NotFoundError if the hub has no such file,
   *   NotReadableError if a file has gone; a TypeError for any other source
   */
  static async load(source, { signal, onProgress, engine = defaultEngine(), hub } = {}) {
    const open = opener(source, hub);
    /** @param {AbortSignal} [wanted] @param {LoadOptions["onProgress"]} [tell] */
    const load = (wanted, tell) =>
      retried(async () => {
        const { generation } = engine;
        const { params, reader } = await open(wanted);
        const { handle, info } = await engine.call("load", params, {
          signal: wanted,
          onProgress: tell,
          reader,
          // Who has given up the load in its last moment is not told of the tokenizer.
          discard: (late) => engine.call("dispose", { handle: late.handle }).catch(() => {}),
        });
        return { handle, info, generation };
      });
    return new Tokenizer(engine, load, await load(signal, onProgress));
  }

  /**
   * @param {string} text
   * @param {EncodeOptions} [options]
   * @returns {Promise<Int32Array>} the token ids
   */
  async encode(text, { addSpecial = true, parseSpecial = false, signal, onProgress } = {}) {
    const params = { text: asText(text), addSpecial, parseSpecial };
    return this.#call("encode", params, { signal, onProgress });
  }

  /**
   * @param {string} text
   * @param {EncodeOptions} [options]
   * @returns {Promise<number>} how many tokens the text has
   */
  async countTokens(text, { addSpecial = true, parseSpecial = false, signal } = {}) {
    return this.#call("countTokens", { text: asText(text), addSpecial, parseSpecial }, { signal });
  }

  /**
   * @param {Iterable<number>} ids
   * @param {CallOptions} [options]
   * @returns {Promise<string>} their text; bytes that are not UTF-8 become U+FFFD
   */
  async decode(ids, { signal } = {}) {
    return this.#call("decode", { ids: asIds(ids) }, { signal });
  }

  /**
   * @param {Iterable<number>} ids
   * @param {CallOptions} [options]
   * @returns {Promise<Pieces>} the bytes and attributes of each
   */
  async pieces(ids, { signal } = {}) {
    return this.#call("pieces", { ids: asIds(ids) }, { signal });
  }

  /**
   * @param {string} text
   * @param {Iterable<number>} ids what `encode` gave for it
   * @param {CallOptions} [options]
   * @returns {Promise<Int32Array | null>} start and end of each token in the string; tokens inside
   *   one character share its span, added tokens have an empty one. Null if the tokens are not
   *   the text's own bytes: some models change a text before they cut it.
   */
  async spans(text, ids, { signal } = {}) {
    return this.#call("spans", { text: asText(text), ids: asIds(ids) }, { signal });
  }

  /** Free the vocabulary. The tokenizer cannot be used afterwards. */
  async dispose() {
    if (this.#disposed) return;
    this.#disposed = true;
    const { handle, generation } = await this.#loaded;
    if (generation === this.#engine.generation) await this.#engine.call("dispose", { handle });
  }

  /** @param {string} method @param {object} params @param {EncodeOptions} options */
  #call(method, params, options) {
    return retried(async () => {
      if (this.#disposed) throw disposed();
      const { handle } = await this.#current(options.signal);
      return this.#engine.call(method, { handle, ...params }, options);
    });
  }

  /** @param {AbortSignal} [signal] */
  async #current(signal) {
    const before = this.#loaded;
    const loaded = await before.catch(() => null);
    if (loaded && loaded.generation === this.#engine.generation) return loaded;
    // One call loads it again, the others wait for that.
    if (this.#loaded === before) this.#loaded = this.#load();
    return abortable(this.#loaded, signal);
  }
}

/** @typedef {{ handle: number, info: Info, generation: number }} Loaded */

/**
 * Do it again, once, if the worker was replaced because of another call.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function retried(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PytokError && error.isReplaced) return work();
    throw error;
  }
}

/**
 * Wait for what others may wait for too.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
function abortable(promise, signal) {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort);
    promise.then(resolve, reject).finally(() => signal?.removeEventListener("abort", onAbort));
  });
}

const disposed = () =>
  new PytokError({ name: "PytokError", message: "this tokenizer has been disposed of" });

/**
 * @param {Source} source
 * @param {string} [hub]
 * @returns {(signal?: AbortSignal) => Promise<{ params: object, reader?: import("./types.js").RangeReader }>}
 */
function opener(source, hub) {
  const name = source instanceof File ? source.name : "";
  if (source instanceof Blob) return async () => ({ params: { source: { blob: source }, name } });
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    const blob = new Blob([/** @type {BlobPart} */ (source)]);
    return async () => ({ params: { source: { blob }, name } });
  }
  if (!(typeof source === "string" && source) && !(source instanceof URL)) {
    throw new TypeError("a model is a File, a Blob, a buffer, a name on the hub or a URL");
  }
  const hubName = typeof source === "string" ? parseHubName(source) : null;
  return async (signal) => {
    const url = hubName
      ? await resolveHubName(hubName, { hub, signal })
      : new URL(fileOfPage(String(source)), document.baseURI);
    const reader = await openRemote(url, signal);
    const ending = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
    return { params: { source: { size: reader.size }, name: decoded(ending) }, reader };
  };
}

/** @param {string} part of a URL */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {string} text */
function asText(text) {
  if (typeof text !== "string") throw new TypeError("a text is a string");
  return text;
}

/** @param {Iterable<number>} ids */
function asIds(ids) {
  if (ids instanceof Int32Array) return ids;
  return Int32Array.from(ids, (id) => {
    if (!Number.isInteger(id) || id !== (id | 0)) throw new TypeError(`${id} is no token id`);
    return id;
  });
}
