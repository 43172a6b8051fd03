/**
 * Tokenize in the browser, exactly as llama.cpp does, from the vocabulary inside a GGUF.
 *
 *     import { Tokenizer } from "./lib/client.js";
 *     const tokenizer = await Tokenizer.load(file);
 *     const ids = await tokenizer.encode("Hello");
 *
 * @import { EncodeOptions, Info, LoadOptions, Pieces, RangeReader } from "./types.js"
 * @import { Source, Step, WorkerMessage } from "./types.js"
 */

import { PytokError, bytes, call, cancel } from "./protocol.js";
import { openRemote } from "./remote.js";

export { PytokError } from "./protocol.js";

/** @returns {Worker} */
const startPlainWorker = () =>
  new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "pytok" });

/**
 * @typedef {object} Pending
 * @property {(value: any) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {((step: Step) => void) | undefined} onProgress
 * @property {RangeReader | undefined} reader
 */

/** A worker with Python in it. It starts at once; calls wait until it is ready. */
export class Engine {
  /** @type {Promise<Worker>} */
  #worker;
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  #lastId = 0;
  /** @type {((step: Step) => void) | undefined} */
  #onProgress;
  /** @type {Step | null} */
  #startStep = null;

  /**
   * @param {object} [options]
   * @param {() => Worker | Promise<Worker>} [options.startWorker] starts lib/worker.js as a
   *   module worker; a page with stricter rules puts its own way here
   * @param {(step: Step) => void} [options.onProgress] told of the worker's own start
   */
  constructor({ startWorker = startPlainWorker, onProgress } = {}) {
    this.#onProgress = onProgress;
    this.#worker = Promise.resolve(startWorker()).then((worker) => {
      worker.onmessage = (event) => this.#receive(event.data);
      worker.onerror = (event) => this.#failAll(event.message || "the worker could not be started");
      return worker;
    });
    this.#worker.catch((error) => this.#failAll(String(error)));
  }

  /**
   * Call a method of worker.js.
   *
   * @param {string} method
   * @param {object} params
   * @param {{ signal?: AbortSignal, onProgress?: (step: Step) => void, reader?: RangeReader }} [options]
   * @returns {Promise<any>}
   */
  async call(method, params, { signal, onProgress, reader } = {}) {
    signal?.throwIfAborted();
    const worker = await this.#worker;
    const id = ++this.#lastId;
    /** @type {() => void} */
    let onAbort = () => {};
    try {
      return await new Promise((resolve, reject) => {
        onAbort = () => {
          worker.postMessage(cancel(id));
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", onAbort);
        this.#pending.set(id, { resolve, reject, onProgress, reader });
        if (this.#startStep) onProgress?.(this.#startStep);
        worker.postMessage(call(id, method, params));
      });
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#pending.delete(id);
      reader?.close();
    }
  }

  /** End the worker. Calls that wait are rejected. */
  async terminate() {
    this.#failAll("the worker was ended");
    (await this.#worker).terminate();
  }

  /** @param {WorkerMessage} message */
  async #receive(message) {
    if (message.type === "progress" && message.id === null) {
      this.#startStep = message.step.phase === "ready" ? null : message.step;
      this.#onProgress?.(message.step);
      for (const { onProgress } of this.#pending.values()) onProgress?.(message.step);
      return;
    }
    const id = /** @type {number} */ (message.id);
    const pending = this.#pending.get(id);
    if (!pending) return; // its caller has given up
    if (message.type === "result") pending.resolve(message.value);
    else if (message.type === "failure") pending.reject(new PytokError(message.error));
    else if (message.type === "progress") pending.onProgress?.(message.step);
    else {
      const worker = await this.#worker;
      try {
        const data = await /** @type {RangeReader} */ (pending.reader).read(message.offset, message.size);
        worker.postMessage(bytes(id, data));
      } catch (error) {
        pending.reject(error);
        worker.postMessage(bytes(id, null));
      }
    }
  }

  /** @param {string} reason */
  #failAll(reason) {
    const error = new PytokError({ name: "WorkerError", message: reason });
    for (const pending of this.#pending.values()) pending.reject(error);
    this.#pending.clear();
  }
}

/** @type {Engine | undefined} */
let sharedEngine;

/** A model's tokenizer; its work is done in the engine's worker. */
export class Tokenizer {
  #engine;
  #handle;

  /**
   * @param {Engine} engine
   * @param {number} handle
   * @param {Info} info
   */
  constructor(engine, handle, info) {
    this.#engine = engine;
    this.#handle = handle;
    /** What the file says of itself and its vocabulary. */
    this.info = info;
  }

  /**
   * Read a GGUF's header, never the whole file.
   *
   * @param {Source} source a File or Blob, a buffer, or a URL (a string is a URL)
   * @param {LoadOptions} [options]
   * @returns {Promise<Tokenizer>}
   * @throws {PytokError} named GGUFError, VocabError or UnsupportedError if the file is at
   *   fault; the signal's reason; a DOMException named NetworkError if a URL cannot be read
   */
  static async load(source, { signal, onProgress, engine = (sharedEngine ??= new Engine()) } = {}) {
    const remote = typeof source === "string" || source instanceof URL;
    const reader = remote ? openRemote(new URL(source, document.baseURI)) : undefined;
    const params = remote
      ? { source: { size: null } }
      : { source: { blob: source instanceof Blob ? source : new Blob([/** @type {BlobPart} */ (source)]) } };
    const { handle, info } = await engine.call("load", params, { signal, onProgress, reader });
    return new Tokenizer(engine, handle, info);
  }

  /**
   * @param {string} text
   * @param {EncodeOptions} [options]
   * @returns {Promise<Int32Array>} the token ids
   */
  encode(text, { addSpecial = true, parseSpecial = false } = {}) {
    return this.#call("encode", { text, addSpecial, parseSpecial });
  }

  /**
   * @param {string} text
   * @param {EncodeOptions} [options]
   * @returns {Promise<number>} how many tokens the text has
   */
  countTokens(text, { addSpecial = true, parseSpecial = false } = {}) {
    return this.#call("countTokens", { text, addSpecial, parseSpecial });
  }

  /**
   * @param {ArrayLike<number>} ids
   * @returns {Promise<string>} their text; bytes that are not UTF-8 become U+FFFD
   */
  decode(ids) {
    return this.#call("decode", { ids: Int32Array.from(ids) });
  }

  /**
   * @param {ArrayLike<number>} ids
   * @returns {Promise<Pieces>} the bytes and attributes of each
   */
  pieces(ids) {
    return this.#call("pieces", { ids: Int32Array.from(ids) });
  }

  /** Free the vocabulary. The tokenizer cannot be used afterwards. */
  dispose() {
    return this.#call("dispose", {});
  }

  /** @param {string} method @param {object} params */
  #call(method, params) {
    return this.#engine.call(method, { handle: this.#handle, ...params });
  }
}
