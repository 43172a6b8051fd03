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

  const engine = new Engine({
    startWorker: startGuardedWorker,
    onProgress(step) {
      if (!loading) store.set({ step: step.phase === "ready" ? null : step });
    },
  });

  /**
   * Load a model. A failure leaves the one before in place.
   *
   * @param {Source} source
   * @param {string} fileName
   */
  async function load(source, fileName) {
    loading?.abort();
    const mine = (loading = new AbortController());
    store.set({ ids: null, error: "", step: { phase: "reading" } });
    try {
      const tokenizer = await Tokenizer.load(source, {
        engine,
        signal: mine.signal,
        onProgress: (step) => mine === loading && store.set({ step }),
      });
      if (mine !== loading) {
        tokenizer.dispose();
        return;
      }
      store.get().tokenizer?.dispose();
      loading = null;
      store.set({ tokenizer, fileName, step: null });
    } catch (error) {
      if (mine !== loading) return; // another load has taken its place
      loading = null;
      store.set({ step: null, error: `${fileName}: ${sentence(error)}` });
    }
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
      try {
        const ids = await tokenizer.encode(readText(), { addSpecial, parseSpecial });
        if (!loading && tokenizer === store.get().tokenizer) store.set({ ids, page: 0 });
      } catch (error) {
        if (!loading) store.set({ ids: null, error: sentence(error) });
      }
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
