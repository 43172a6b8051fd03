/**
 * The page's end of the worker: calls go out with an id, and every one of them is answered.
 *
 * @import { RangeReader, Step, WorkerMessage } from "./types.js"
 */

import { PytokError, bytes, call, cancel } from "./protocol.js";

/** @returns {Worker} */
const startPlainWorker = () =>
  new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "pytok" });

/**
 * @typedef {object} CallOptions
 * @property {AbortSignal} [signal]
 * @property {(step: Step) => void} [onProgress]
 * @property {RangeReader} [reader] answers the worker's wishes
 * @property {(result: any) => void} [discard] takes a result that comes after an abort
 *
 * @typedef {CallOptions & {
 *   resolve: (value: any) => void, reject: (error: unknown) => void, abandoned: boolean
 * }} Pending
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
  /** @type {PytokError | null} why there will be no more answers */
  #fault = null;

  /**
   * @param {object} [options]
   * @param {() => Worker | Promise<Worker>} [options.startWorker] starts lib/worker.js as a
   *   module worker; a page with stricter rules puts its own way here
   * @param {(step: Step) => void} [options.onProgress] told of the worker's own start
   */
  constructor({ startWorker = startPlainWorker, onProgress } = {}) {
    this.#onProgress = onProgress;
    this.#worker = this.#start(startWorker);
    this.#worker.catch((error) => this.#die(`the worker could not be started: ${error}`));
  }

  /** Whether the worker has ended; another engine is needed then. */
  get dead() {
    return this.#fault !== null;
  }

  /** @param {() => Worker | Promise<Worker>} startWorker */
  async #start(startWorker) {
    const worker = await startWorker();
    worker.onmessage = (event) => this.#receive(worker, event.data);
    worker.onerror = (event) => {
      this.#die(event.message || "the worker could not be started");
      worker.terminate();
    };
    return worker;
  }

  /**
   * Call a method of worker.js.
   *
   * @param {string} method
   * @param {object} params
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  async call(method, params, options = {}) {
    const { signal, onProgress } = options;
    signal?.throwIfAborted();
    if (this.#fault) throw this.#fault;
    const id = ++this.#lastId;
    /** @type {() => void} */
    let onAbort = () => {};
    try {
      return await new Promise((resolve, reject) => {
        const pending = { ...options, resolve, reject, abandoned: false };
        this.#pending.set(id, pending);
        onAbort = () => {
          pending.abandoned = true;
          this.#worker.then((worker) => worker.postMessage(cancel(id)));
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", onAbort);
        if (this.#startStep) onProgress?.(this.#startStep);
        this.#worker.then((worker) => {
          if (!pending.abandoned) worker.postMessage(call(id, method, params));
          else this.#pending.delete(id);
        }, reject);
      });
    } finally {
      signal?.removeEventListener("abort", onAbort);
      options.reader?.close();
    }
  }

  /** End the worker. Calls that wait are rejected, and so are later ones. */
  async terminate() {
    this.#die("the worker was ended");
    (await this.#worker).terminate();
  }

  /** @param {Worker} worker @param {WorkerMessage} message */
  async #receive(worker, message) {
    if (message.type === "progress" && message.id === null) {
      this.#startStep = message.step.phase === "ready" ? null : message.step;
      this.#onProgress?.(message.step);
      for (const { onProgress } of this.#pending.values()) onProgress?.(message.step);
      return;
    }
    const id = /** @type {number} */ (message.id);
    const pending = this.#pending.get(id);
    if (!pending) return;
    if (message.type === "result") {
      this.#pending.delete(id);
      if (pending.abandoned) pending.discard?.(message.value);
      else pending.resolve(message.value);
    } else if (message.type === "failure") {
      this.#pending.delete(id);
      const error = new PytokError(message.error);
      pending.reject(error);
      if (error.name === "WorkerError") {
        this.#die(error.message); // it could not start: nothing will ever work in it
        worker.terminate();
      }
    } else if (message.type === "progress") {
      if (!pending.abandoned) pending.onProgress?.(message.step);
    } else if (!pending.abandoned) {
      try {
        const reader = /** @type {RangeReader} */ (pending.reader);
        worker.postMessage(bytes(id, await reader.read(message.offset, message.size)));
      } catch (error) {
        pending.reject(error);
        worker.postMessage(bytes(id, null));
      }
    }
  }

  /** @param {string} reason */
  #die(reason) {
    this.#fault ??= new PytokError({ name: "WorkerError", message: reason });
    for (const { reject } of this.#pending.values()) reject(this.#fault);
    this.#pending.clear();
  }
}
