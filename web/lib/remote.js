/**
 * Read ranges of a file on a server, on the page's main thread: the one place from which
 * another origin may be asked.
 *
 * A single range needs no preflight. A server that ignores it and answers 200 is read as a
 * stream, no further than is asked for. A connection that is cut is taken up again where it
 * ended.
 *
 * @import { OnBytes, RangeReader } from "./types.js"
 */

import { elided } from "./text.js";

// As the reader's first step: most of what a file says of itself, and little to wait for.
const FIRST = 1 << 16;
const RETRIES = 3;
const PAUSE = 200; // ms, times the number of the attempt
// A stream that nobody reads is let go of after so many ms: browsers read tens of megabytes
// ahead. If more is wanted after all, it is asked for again from the beginning.
const IDLE = 300;

/** @param {string} reason @param {URL} url */
const unreadable = (reason, url) =>
  new DOMException(`could not read ${elided(url.href, 150)}: ${reason}`, "NetworkError");

/** What a status means to somebody who has entered an address. @type {Record<number, string>} */
const MEANINGS = {
  401: "the server answered 401: it wants a login, or there is no such file",
  403: "the server answered 403: it does not let everybody read this",
  404: "the server answered 404: there is no such file",
};

/**
 * Ask for the beginning of a file, so that its size is known where the server tells it.
 *
 * @param {URL} url
 * @param {AbortSignal} [signal]
 * @returns {Promise<RangeReader>}
 * @throws {DOMException} NetworkError with the reason; the signal's reason
 */
export async function openRemote(url, signal) {
  const controller = new AbortController();
  const stop = signal ? AbortSignal.any([signal, controller.signal]) : controller.signal;
  const file = new RemoteFile(url, stop);
  const beginning = await file.read(0, FIRST);
  return {
    size: file.size,
    async read(offset, size, onBytes) {
      const end = Math.min(offset + size, beginning.length);
      return offset < end ? beginning.slice(offset, end) : file.read(offset, size, onBytes);
    },
    close: () => controller.abort(),
  };
}

/**
 * @typedef {object} Body the body of a response, as far as it has been read
 * @property {ReadableStreamDefaultReader<Uint8Array>} reader
 * @property {number} position in the file, of the next byte
 * @property {boolean} isWhole whether it goes on to the file's end
 * @property {Uint8Array} rest of the last chunk
 */

class RemoteFile {
  #url;
  #signal;
  /** @type {Body | null} */
  #body = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #idle;
  #reached = false; // whether the server has answered before
  /** @type {string | null} when it was last changed, if the server tells */
  #changed = null;
  /** @type {number | null} in bytes, null if the server does not tell */
  size = null;

  /** @param {URL} url @param {AbortSignal} signal */
  constructor(url, signal) {
    this.#url = url;
    this.#signal = signal;
  }

  /** @param {number} offset @param {number} size @param {OnBytes} [onBytes] */
  async read(offset, size, onBytes) {
    clearTimeout(this.#idle);
    /** @type {Uint8Array[]} */
    const parts = [];
    let count = 0;
    for (let failures = 0; count < size; ) {
      try {
        const chunk = await this.#next(offset + count, size - count);
        if (!chunk) break;
        parts.push(chunk);
        count += chunk.length;
        onBytes?.(offset + count, this.size);
      } catch (error) {
        this.#signal.throwIfAborted();
        this.#body = null;
        if (error instanceof DOMException) throw error; // told by us
        if (!this.#reached) throw unreadable(await this.#whyUnreachable(), this.#url);
        if (++failures > RETRIES) {
          throw unreadable(`the connection broke off at byte ${offset + count}`, this.#url);
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE * failures));
      }
    }
    this.#idle = setTimeout(() => this.#drop(), IDLE);
    return joined(parts, count);
  }

  /**
   * @param {number} offset
   * @param {number} size
   * @returns {Promise<Uint8Array | null>} the next bytes from `offset` on, null at the file's end
   */
  async #next(offset, size) {
    if (this.size !== null && offset >= this.size) return null;
    let body = this.#body;
    if (!body || body.position > offset || (!body.isWhole && body.position !== offset)) {
      body = await this.#request(offset, size);
      if (!body) return null;
    }
    for (;;) {
      let chunk = body.rest;
      if (!chunk.length) {
        const { done, value } = await body.reader.read();
        if (done) {
          // A part may be shorter than was asked for; the next request tells whether more comes.
          if (body.isWhole) this.size = body.position;
          this.#body = null;
          return null;
        }
        chunk = value;
      }
      const skipped = Math.min(Math.max(0, offset - body.position), chunk.length);
      const taken = chunk.subarray(skipped, skipped + size);
      body.position += skipped + taken.length;
      body.rest = chunk.subarray(skipped + taken.length);
      if (!taken.length) continue;
      if (taken.length === size && !body.isWhole) {
        // Also a server that sends more than it was asked for is read no further.
        this.#drop();
      }
      return taken;
    }
  }

  #drop() {
    this.#body?.reader.cancel().catch(() => {});
    this.#body = null;
  }

  /** @param {number} offset @param {number} size @returns {Promise<Body | null>} */
  async #request(offset, size) {
    this.#drop();
    const response = await fetch(this.#url, {
      headers: { Range: `bytes=${offset}-${offset + size - 1}` },
      referrerPolicy: "no-referrer",
      signal: this.#signal,
    });
    this.#reached = true;
    const { status, headers, body } = response;
    if (status === 416) return null;
    if ((status !== 200 && status !== 206) || !body) {
      throw unreadable(MEANINGS[status] ?? `the server answered ${status}`, this.#url);
    }
    this.#check(offset, size, status, headers);
    const isWhole = status === 200;
    const position = isWhole ? 0 : offset;
    this.#body = { reader: body.getReader(), position, isWhole, rest: new Uint8Array(0) };
    return this.#body;
  }

  /** @param {number} offset @param {number} size @param {number} status @param {Headers} headers */
  #check(offset, size, status, headers) {
    // Servers of other origins may hide Content-Range; then the size stays unknown.
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get("Content-Range") ?? "");
    if (status === 206 && range && Number(range[1]) !== offset) {
      throw unreadable(`asked for byte ${offset}, the server sent byte ${range[1]}`, this.#url);
    }
    if (status === 206 && !range && Number(headers.get("Content-Length")) > size) {
      throw unreadable("the server sent more than it was asked for, from nobody knows where", this.#url);
    }
    if (status === 206 && headers.get("Content-Type")?.startsWith("multipart/")) {
      throw unreadable("the server sent several ranges for one", this.#url);
    }
    const whole = status === 206 && range && range[2] !== "*" ? Number(range[2]) : this.size;
    const changed = headers.get("Last-Modified");
    if ((this.size !== null && whole !== this.size) || (this.#changed && changed !== this.#changed)) {
      throw unreadable("the file changed while it was being read", this.#url);
    }
    this.size = whole;
    this.#changed = changed;
  }

  /** Tell a server that lets nobody read its answer from one that does not answer. */
  async #whyUnreachable() {
    const { protocol } = this.#url;
    if (!/^https?:$/.test(protocol)) return `addresses begin with https: or http:, not ${protocol}`;
    try {
      await fetch(this.#url, {
        method: "HEAD",
        mode: "no-cors",
        referrerPolicy: "no-referrer",
        signal: this.#signal,
      });
    } catch {
      this.#signal.throwIfAborted();
      return "the server cannot be reached";
    }
    return (
      "the server answers, but does not let other pages read its files (CORS); " +
      "download the file and open it here"
    );
  }
}

/** @param {Uint8Array[]} parts @param {number} size */
function joined(parts, size) {
  if (parts.length === 1) return parts[0].slice();
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
