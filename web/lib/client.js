/**
 * Tokenize in the browser, exactly as llama.cpp does, from the vocabulary inside a GGUF.
 *
 *     import { Tokenizer } from "./lib/client.js";
 *     const tokenizer = await Tokenizer.load(file);
 *     const ids = await tokenizer.encode("Hello");
 *
 * @import { EncodeOptions, Info, LoadOptions, Pieces, Source } from "./types.js"
 */

import { Engine } from "./engine.js";
import { openRemote } from "./remote.js";

export { Engine } from "./engine.js";
export { PytokError } from "./protocol.js";

/** @type {Engine | undefined} */
let sharedEngine;

/** @returns {Engine} the one that all tokenizers share by default; a new one if it has died */
function defaultEngine() {
  if (!sharedEngine || sharedEngine.dead) sharedEngine = new Engine();
  return sharedEngine;
}

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
   *   fault, WorkerError if the worker is; the signal's reason; a DOMException named
   *   NetworkError if a URL cannot be read; a TypeError for any other source
   */
  static async load(source, { signal, onProgress, engine = defaultEngine() } = {}) {
    const { params, reader } = opened(source);
    const { handle, info } = await engine.call("load", params, {
      signal,
      onProgress,
      reader,
      // Who has given up the load in its last moment is not told of the tokenizer.
      discard: (late) => engine.call("dispose", { handle: late.handle }).catch(() => {}),
    });
    return new Tokenizer(engine, handle, info);
  }

  /**
   * @param {string} text
   * @param {EncodeOptions} [options]
   * @returns {Promise<Int32Array>} the token ids
   */
  async encode(text, { addSpecial = true, parseSpecial = false } = {}) {
    return this.#call("encode", { text: asText(text), addSpecial, parseSpecial });
  }

  /**
   * @param {string} text
   * @param {EncodeOptions} [options]
   * @returns {Promise<number>} how many tokens the text has
   */
  async countTokens(text, { addSpecial = true, parseSpecial = false } = {}) {
    return this.#call("countTokens", { text: asText(text), addSpecial, parseSpecial });
  }

  /**
   * @param {Iterable<number>} ids
   * @returns {Promise<string>} their text; bytes that are not UTF-8 become U+FFFD
   */
  async decode(ids) {
    return this.#call("decode", { ids: asIds(ids) });
  }

  /**
   * @param {Iterable<number>} ids
   * @returns {Promise<Pieces>} the bytes and attributes of each
   */
  async pieces(ids) {
    return this.#call("pieces", { ids: asIds(ids) });
  }

  /** Free the vocabulary. The tokenizer cannot be used afterwards. */
  async dispose() {
    return this.#call("dispose", {});
  }

  /** @param {string} method @param {object} params */
  #call(method, params) {
    return this.#engine.call(method, { handle: this.#handle, ...params });
  }
}

/** @param {Source} source */
function opened(source) {
  if ((typeof source === "string" && source) || source instanceof URL) {
    const reader = openRemote(new URL(source, document.baseURI));
    return { params: { source: { size: null } }, reader };
  }
  if (source instanceof Blob) return { params: { source: { blob: source } } };
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return { params: { source: { blob: new Blob([/** @type {BlobPart} */ (source)]) } } };
  }
  throw new TypeError("a model is a File, a Blob, a buffer or a URL");
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
