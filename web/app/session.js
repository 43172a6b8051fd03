/**
 * What the page does: loads models and encodes the text, one at a time, the latest wins.
 *
 * @import { Source } from "../lib/types.js"
 * @import { Store } from "./store.js"
 */

import { Engine, Tokenizer } from "../lib/client.js";
import { elided } from "../lib/text.js";
import { startGuardedWorker } from "./guarded-worker.js";

/** @typedef {Source | ((signal: AbortSignal) => Promise<Source>)} Opening the source itself, or how to get it */

// A wait of this many ms is told of, and can be cancelled.
const LONG_WAIT = 300;

/**
 * @param {Store} store
 * @param {() => string} readText the text as it is now
 */
export function createSession(store, readText) {
  /** @type {AbortController | null} */
  let loading = null;
  /** @type {AbortController | null} */
  let encoding = null;
  let stale = false;
  /** Whether the encode that runs listens to others now and then, and can be given up. */
  let listens = false;
  /** @type {(() => void) | null} what a failure can be answered with */
  let again = null;

  const engine = new Engine({
    startWorker: startGuardedWorker,
    onProgress(step) {
      if (!loading) store.set({ step: step.phase === "ready" ? null : step });
    },
  });

  /**
   * Load a model. A failure leaves the one before in place.
   *
   * @param {Opening} source
   * @param {string} name
   */
  async function load(source, name) {
    loading?.abort();
    encoding?.abort();
    const mine = (loading = new AbortController());
    store.set({ ids: null, loadError: "", encodeError: "", canRetry: false, step: { phase: "reading" } });
    /** @type {Tokenizer | undefined} */
    let tokenizer;
    let loadError = "";
    try {
      const opened = typeof source === "function" ? await source(mine.signal) : source;
      tokenizer = await Tokenizer.load(opened, {
        engine,
        signal: mine.signal,
        onProgress: (step) => mine === loading && store.set({ step }),
      });
      if (tokenizer.info.kind === "NONE") throw new Error("it declares to have no vocabulary");
    } catch (error) {
      const reason = mine.signal.aborted ? "cancelled." : sentence(error);
      loadError = `${elided(name, 80)}: ${reason}`;
    }
    // What is not kept is let go of: a load that another has overtaken, or the model before.
    const kept = mine === loading && !loadError;
    const unused = kept ? store.get().tokenizer : tokenizer;
    unused?.dispose().catch(() => {});
    if (mine !== loading) return;
    loading = null;
    again = () => load(source, name);
    store.set(
      kept ? { tokenizer, fileName: name, step: null } : { loadError, canRetry: true, step: null },
    );
    encode();
  }

  /** Encode the text again: at once if the encode that runs can be given up, else after it. */
  async function encode() {
    stale = true;
    if (encoding && listens) encoding.abort();
    if (encoding) return;
    while (stale) {
      stale = false;
      const { tokenizer, addSpecial, parseSpecial } = store.get();
      if (!tokenizer || loading) break;
      const mine = (encoding = new AbortController());
      listens = false;
      const waiting = setTimeout(() => {
        if (!store.get().step) store.set({ step: { phase: "encoding" } });
      }, LONG_WAIT);
      /** @type {Int32Array | null} */
      let ids = null;
      let encodeError = "";
      try {
        const { signal } = mine;
        ids = await tokenizer.encode(readText(), {
          addSpecial,
          parseSpecial,
          signal,
          onProgress(step) {
            listens = true;
            if (store.get().step?.phase === "encoding") store.set({ step });
          },
        });
      } catch (error) {
        encodeError = mine.signal.aborted ? "Cancelled." : sentence(error);
      }
      clearTimeout(waiting);
      if (stale && mine.signal.aborted) continue;
      if (loading || tokenizer !== store.get().tokenizer) continue;
      if (encodeError) again = encode;
      store.set({ ids, encodeError, step: null, canRetry: Boolean(encodeError || store.get().loadError) });
    }
    encoding = null;
  }

  /** Give up what is being waited for. Text, switches and the model before stay. */
  function cancel() {
    (loading ?? encoding)?.abort();
  }

  return { load, encode, cancel, retry: () => again?.() };
}

/** @param {unknown} error */
function sentence(error) {
  const text = error instanceof Error ? error.message : String(error);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
