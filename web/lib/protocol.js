/**
 * The messages between a page and its worker. Pure: it knows neither Worker nor Pyodide.
 *
 * page -> worker   call(id, method, params)   answered by one result or failure
 *                  bytes(id, data)            answers a wish; null means it cannot be had
 *                  cancel(id)                 the call's answer is no longer wanted
 * worker -> page   alive(lock)                the name of a lock that it holds while it lives
 *                  heard(id)                  it knows of a cancel, and will soon be free
 *                  result(id, value)
 *                  failure(id, error)
 *                  progress(id, step)         id null: about the worker's own start
 *                  wish(id, offset, size)     bytes of a file that only the page can reach
 *
 * @import { Call, Failure, Progress, Step, WorkerMessage } from "./types.js"
 */

/** @type {(id: number, method: string, params: object) => Call} */
export const call = (id, method, params) => ({ type: "call", id, method, params });

/** @param {number} id @param {Uint8Array | null} data */
export const bytes = (id, data) => ({ type: /** @type {const} */ ("bytes"), id, data });

/** @param {number} id */
export const cancel = (id) => ({ type: /** @type {const} */ ("cancel"), id });

/** @type {(lock: string) => WorkerMessage} */
export const alive = (lock) => ({ type: "alive", lock });

/** @type {(id: number) => WorkerMessage} */
export const heard = (id) => ({ type: "heard", id });

/** @type {(id: number, value: unknown) => WorkerMessage} */
export const result = (id, value) => ({ type: "result", id, value });

/** @type {(id: number | null, step: Step) => Progress} */
export const progress = (id, step) => ({ type: "progress", id, step });

/** @type {(id: number, offset: number, size: number) => WorkerMessage} */
export const wish = (id, offset, size) => ({ type: "wish", id, offset, size });

/**
 * Errors cross as plain values: their class would be lost on the way.
 *
 * @param {number} id
 * @param {unknown} error
 * @returns {Failure}
 */
export function failure(id, error) {
  const { name, message, offset, key } = /** @type {Partial<PytokError>} */ (
    error instanceof Error ? error : new Error(String(error))
  );
  return { type: "failure", id, error: { name, message, offset, key } };
}

/** An error of the engine; `name` tells which: GGUFError, VocabError, UnsupportedError... */
export class PytokError extends Error {
  /** @param {Failure["error"]} description */
  constructor({ name, message, offset, key }) {
    super(message);
    this.name = name ?? "Error";
    /** Byte offset in the file of what is at fault. */
    this.offset = offset ?? null;
    /** Metadata key that is at fault. */
    this.key = key ?? null;
    /** Whether the call had no part in it, and may be made again: its worker was replaced. */
    this.isReplaced = false;
  }
}
