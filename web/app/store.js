/** The page's state: one object, replaced by patches, and those who watch it. */

/**
 * @template {object} S
 * @param {S} initial
 */
export function createStore(initial) {
  let state = initial;
  /** @type {Set<(state: S, before: S) => void>} */
  const watchers = new Set();
  return {
    get: () => state,
    /** @param {Partial<S>} patch */
    set(patch) {
      const before = state;
      state = { ...state, ...patch };
      for (const watch of watchers) watch(state, before);
    },
    /**
     * Call `watch` now and after every change; returns how to stop.
     *
     * @param {(state: S, before: Partial<S>) => void} watch
     */
    watch(watch) {
      watchers.add(watch);
      watch(state, {});
      return () => watchers.delete(watch);
    },
  };
}

/**
 * @typedef {object} State
 * @property {import("../lib/types.js").Step | null} step what is being waited for
 * @property {string} loadError one sentence on the last load, "" if all is well
 * @property {string} encodeError the same on the last encoding
 * @property {string} linkError the same on what the page's own address carries
 * @property {boolean} canRetry whether what failed can be tried again
 * @property {import("../lib/client.js").Tokenizer | null} tokenizer
 * @property {string} fileName
 * @property {boolean} addSpecial
 * @property {boolean} parseSpecial
 * @property {Int32Array | null} ids of the whole text; null while there are none to show
 * @property {number} page of tokens that is shown, from 0
 *
 * @typedef {ReturnType<typeof createStore<State>>} Store
 */
