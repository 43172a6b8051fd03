/**
 * What the page does: loads models and encodes the text, one at a time, the latest wins.
 *
 * @import { Source } from "../lib/types.js"
 * @import { Store } from "./store.js"
 */

import { Engine, Tokenizer } from "../lib/client.js";
import { startGuardedWorker } from "./guarded-worker.js";

/**
 * @param {Store} store
 * @param {() => string} readText the text as it is now
 */
export function createSession(store, readText) {
  /** @type {AbortController | null} */
  let loading = null;
  let encoding = false;
  let stale = false;

  let engine = newEngine();

  function newEngine() {
    return new Engine({
      startWorker: startGuardedWorker,
      onProgress(step) {
        if (!loading) store.set({ step: step.phase === "ready" ? null : step });
      },
    });
  }

  /**
   * Load a model. A failure leaves the one before in place.
   *
   * @param {Source} source
   * @param {string} fileName
   */
  async function load(source, fileName) {
    loading?.abort();
    const mine = (loading = new AbortController());
    if (engine.dead) {
      engine = newEngine();
      store.set({ tokenizer: null });
    }
    store.set({ ids: null, loadError: "", encodeError: "", step: { phase: "reading" } });
    /** @type {Tokenizer | undefined} */
    let tokenizer;
    let loadError = "";
    try {
      tokenizer = await Tokenizer.load(source, {
        engine,
        signal: mine.signal,
        onProgress: (step) => mine === loading && store.set({ step }),
      });
      if (tokenizer.info.kind === "NONE") throw new Error("it declares to have no vocabulary");
    } catch (error) {
      loadError = `${fileName}: ${sentence(error)}`;
    }
    // What is not kept is let go of: a load that another has overtaken, or the model before.
    const kept = mine === loading && !loadError;
    const unused = kept ? store.get().tokenizer : tokenizer;
    unused?.dispose().catch(() => {});
    if (mine !== loading) return;
    loading = null;
    store.set(kept ? { tokenizer, fileName, step: null } : { loadError, step: null });
    encode();
  }

  /** Encode the text again, as soon as the encode that runs has ended. */
  async function encode() {
    stale = true;
    if (encoding) return;
    encoding = true;
    while (stale) {
      stale = false;
      const { tokenizer, addSpecial, parseSpecial } = store.get();
      if (!tokenizer || loading) break;
      /** @type {Int32Array | null} */
      let ids = null;
      let encodeError = "";
      try {
        ids = await tokenizer.encode(readText(), { addSpecial, parseSpecial });
      } catch (error) {
        encodeError = sentence(error);
      }
      if (!loading && tokenizer === store.get().tokenizer) store.set({ ids, encodeError });
    }
    encoding = false;
  }

  return { load, encode };
}

/** @param {unknown} error */
function sentence(error) {
  const text = error instanceof Error ? error.message : String(error);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
