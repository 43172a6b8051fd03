/**
 * Read ranges of a file on a server, on the page's main thread: the one place from which
 * another origin may be asked.
 *
 * @import { RangeReader } from "./types.js"
 */

/** @param {string} reason @param {URL} url */
const unreadable = (reason, url) =>
  new DOMException(`could not read ${url.href}: ${reason}`, "NetworkError");

/**
 * A single range needs no preflight. A server that ignores it and answers 200 is read as a
 * stream, no further than is asked for.
 *
 * @param {URL} url
 * @returns {RangeReader}
 */
export function openRemote(url) {
  const controller = new AbortController();
  /** @type {ReadableStreamDefaultReader<Uint8Array> | null} */
  let stream = null;
  let streamed = new Uint8Array(0);
  let streamedFrom = 0;

  /** @param {number} offset @param {number} size */
  async function readStream(offset, size) {
    while (stream && streamedFrom + streamed.length < offset + size) {
      const { done, value } = await stream.read();
      if (done) break;
      const kept = streamed.subarray(Math.max(0, Math.min(offset - streamedFrom, streamed.length)));
      streamedFrom += streamed.length - kept.length;
      const joined = new Uint8Array(kept.length + value.length);
      joined.set(kept);
      joined.set(value, kept.length);
      streamed = joined;
    }
    const start = offset - streamedFrom;
    return streamed.slice(start, start + size);
  }

  return {
    size: null,
    async read(offset, size) {
      try {
        if (stream) return await readStream(offset, size);
        const response = await fetch(url, {
          headers: { Range: `bytes=${offset}-${offset + size - 1}` },
          signal: controller.signal,
        });
        if (response.status === 206) return new Uint8Array(await response.arrayBuffer());
        if (response.status === 416) return new Uint8Array(0);
        if (response.status === 200 && response.body) {
          stream = response.body.getReader();
          return await readStream(offset, size);
        }
        throw unreadable(`the server answered ${response.status}`, url);
      } catch (error) {
        if (error instanceof DOMException) throw error;
        throw unreadable("the server cannot be reached, or does not let this page read it", url);
      }
    },
    close() {
      controller.abort();
    },
  };
}
