/**
 * The page's end of the worker: calls go out with an id, and every one of them is answered.
 *
 * A worker that dies, or that does not heed a cancel, is ended; the next call starts another.
 * What was loaded into it is gone then: `generation` counts the workers.
 *
 * @import { OnBytes, RangeReader, Step, WorkerMessage } from "./types.js"
 */

import { PytokError, bytes, call, cancel } from "./protocol.js";

// How long a worker may be busy with what nobody waits for any more, in ms.
const GRACE = 1000;

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
 *   resolve: (value: any) => void, reject: (error: unknown) => void, abandoned: boolean,
 *   grace: number | undefined
 * }} Pending
 */

/** A worker with Python in it. It starts at once; calls wait until it is ready. */
export class Engine {
  /** @type {Promise<Worker> | null} null while none is needed */
  #worker = null;
  #startWorker;
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  #lastId = 0;
  /** @type {((step: Step) => void) | undefined} */
  #onProgress;
  /** @type {Step | null} */
  #startStep = null;
  /** @type {AbortController} of what belongs to the worker that runs */
  #life = new AbortController();
  #terminated = false;
  #generation = 1;

  /**
   * @param {object} [options]
   * @param {() => Worker | Promise<Worker>} [options.startWorker] starts lib/worker.js as a
   *   module worker; a page with stricter rules puts its own way here
   * @param {(step: Step) => void} [options.onProgress] told of the worker's own start
   */
  constructor({ startWorker = startPlainWorker, onProgress } = {}) {
    this.#startWorker = startWorker;
    this.#onProgress = onProgress;
    this.#running().catch(() => {}); // the calls tell of it
  }

  /** Whether it has been terminated; another engine is needed then. */
  get dead() {
    return this.#terminated;
  }

  /** Which worker runs, counted from 1: what an earlier one had loaded is gone. */
  get generation() {
    return this.#generation;
  }

  /** @returns {Promise<Worker>} */
  #running() {
    this.#worker ??= this.#start(this.#generation);
    return this.#worker;
  }

  /** @param {number} generation @returns {Promise<Worker>} */
  async #start(generation) {
    try {
      const worker = await this.#startWorker();
      if (generation !== this.#generation || this.#terminated) {
        worker.terminate();
        throw ended("the worker was ended");
      }
      this.#life.signal.addEventListener("abort", () => worker.terminate());
      worker.onmessage = (event) => {
        if (generation === this.#generation) this.#receive(worker, event.data);
      };
      worker.onerror = (event) => {
        if (generation !== this.#generation) return;
        this.#end(ended(event.message || "the worker could not be started"));
      };
      return worker;
    } catch (error) {
      const fault = error instanceof PytokError
        ? error
        : ended(`the worker could not be started: ${error}`);
      if (generation === this.#generation) this.#end(fault);
      throw fault;
    }
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
    /** @type {() => void} */
    let onAbort = () => {};
    try {
      signal?.throwIfAborted();
      if (this.#terminated) throw ended("the worker was ended");
      return await new Promise((resolve, reject) => {
        const id = ++this.#lastId;
        /** @type {Pending} */
        const pending = { ...options, resolve, reject, abandoned: false, grace: undefined };
        this.#pending.set(id, pending);
        onAbort = () => this.#abandon(id, pending);
        signal?.addEventListener("abort", onAbort);
        if (this.#startStep) onProgress?.(this.#startStep);
        this.#running().then((worker) => {
          if (!pending.abandoned) worker.postMessage(call(id, method, params));
          else this.#pending.delete(id);
        }, reject);
      });
    } finally {
      signal?.removeEventListener("abort", onAbort);
      options.reader?.close();
    }
  }

  /** End the worker for good. Calls that wait are rejected, and so are later ones. */
  async terminate() {
    this.#terminated = true;
    this.#end(ended("the worker was ended"));
  }

  /**
   * The caller is free at once. The worker says that it has heard of it as soon as it is not
   * busy; one that stays busy is ended.
   *
   * @param {number} id
   * @param {Pending} pending
   */
  #abandon(id, pending) {
    pending.abandoned = true;
    pending.reject(pending.signal?.reason);
    const generation = this.#generation;
    this.#worker?.then((worker) => {
      if (generation !== this.#generation || !this.#pending.has(id)) return;
      worker.postMessage(cancel(id));
      pending.grace = setTimeout(() => {
        const fault = ended("the worker was ended, because a cancelled call would not stop");
        fault.isReplaced = true;
        if (generation === this.#generation) this.#end(fault);
      }, GRACE);
    }, () => {});
  }

  /** @param {Worker} worker @param {WorkerMessage} message */
  async #receive(worker, message) {
    if (message.type === "alive") {
      this.#watch(message.lock);
      return;
    }
    if (message.type === "progress" && message.id === null) {
      this.#startStep = message.step.phase === "ready" ? null : message.step;
      this.#onProgress?.(message.step);
      for (const { onProgress } of this.#pending.values()) onProgress?.(message.step);
      return;
    }
    const id = /** @type {number} */ (message.id);
    const pending = this.#pending.get(id);
    if (!pending) return;
    clearTimeout(pending.grace);
    if (message.type === "result") {
      this.#pending.delete(id);
      if (pending.abandoned) pending.discard?.(message.value);
      else pending.resolve(message.value);
    } else if (message.type === "failure") {
      this.#pending.delete(id);
      const error = new PytokError(message.error);
      pending.reject(error);
      // It could not start, or has broken down: nothing will ever work in it.
      if (error.name === "WorkerError") this.#end(error);
    } else if (message.type === "progress") {
      if (message.step.phase !== "reading") pending.reader?.close(); // it has all it needs
      if (!pending.abandoned) pending.onProgress?.(message.step);
    } else if (message.type === "wish" && !pending.abandoned) {
      const { offset, size } = message;
      /** @type {OnBytes} */
      const onBytes = (loaded, total) => {
        if (!pending.abandoned) pending.onProgress?.({ phase: "reading", loaded, total });
      };
      try {
        const reader = /** @type {RangeReader} */ (pending.reader);
        worker.postMessage(bytes(id, await reader.read(offset, size, onBytes)));
      } catch (error) {
        pending.reject(error);
        worker.postMessage(bytes(id, null));
      }
    }
  }

  /**
   * A worker that is killed, by the browser for instance, tells nobody; but the lock that it
   * holds is free then.
   *
   * @param {string} lock
   */
  #watch(lock) {
    const { signal } = this.#life;
    navigator.locks
      .request(lock, { signal }, () => this.#end(ended("the worker has died")))
      .catch(() => {}); // not needed any more
  }

  /** @param {PytokError} fault what the calls that wait are told */
  #end(fault) {
    this.#generation++;
    this.#worker = null;
    this.#startStep = null;
    this.#life.abort();
    this.#life = new AbortController();
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject, grace } of waiting) {
      clearTimeout(grace);
      reject(fault);
    }
  }
}

/** @param {string} message */
const ended = (message) => new PytokError({ name: "WorkerError", message });
