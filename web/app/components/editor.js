/**
 * The text and the two switches.
 *
 * @import { Store } from "../store.js"
 */

import { parseHash } from "../hash.js";
import { find } from "./dom.js";
import { mountFold } from "./fold.js";

// From here on a paste is inserted by us, at the price of what could be undone before:
// Chromium's own way lays all of the text out.
const LARGE_PASTE = 200_000;

/**
 * @param {ParentNode} root
 * @param {Store} store
 * @param {{ encode: () => void }} session
 * @returns {() => void} dispose
 */
export function mountEditor(root, store, session) {
  const text = /** @type {HTMLTextAreaElement} */ (find(root, "#text"));
  const addSpecial = /** @type {HTMLInputElement} */ (find(root, "#add-special"));
  const parseSpecial = /** @type {HTMLInputElement} */ (find(root, "#parse-special"));
  const listening = new AbortController();
  const { signal } = listening;

  const fold = mountFold(
    text,
    (length) => `The beginning of ${length.toLocaleString("en")} characters. Click or type to edit.`,
  );
  text.addEventListener(
    "input",
    () => {
      fold.update();
      store.set({ linkError: "" });
      session.encode();
    },
    { signal },
  );
  text.addEventListener(
    "paste",
    (event) => {
      const pasted = event.clipboardData?.getData("text/plain") ?? "";
      if (pasted.length < LARGE_PASTE) return;
      event.preventDefault();
      const { value, selectionStart, selectionEnd } = text;
      const before = value.slice(0, selectionStart) + pasted;
      fold.assign(before + value.slice(selectionEnd), before.length);
      session.encode();
    },
    { signal },
  );
  for (const box of [addSpecial, parseSpecial]) {
    const change = () => {
      store.set({ addSpecial: addSpecial.checked, parseSpecial: parseSpecial.checked });
      session.encode();
    };
    box.addEventListener("change", change, { signal });
  }
  function takeHash() {
    store.set({ linkError: "" });
    try {
      const hash = parseHash(location.hash);
      if (hash.text !== undefined) fold.assign(hash.text);
      addSpecial.checked = hash.addSpecial ?? addSpecial.checked;
      parseSpecial.checked = hash.parseSpecial ?? parseSpecial.checked;
    } catch (error) {
      store.set({ linkError: /** @type {Error} */ (error).message });
    }
    // Also where there is no hash: a browser may restore what was typed before a reload.
    fold.update();
    store.set({ addSpecial: addSpecial.checked, parseSpecial: parseSpecial.checked });
  }
  takeHash();
  const onHash = () => {
    takeHash();
    session.encode();
  };
  addEventListener("hashchange", onHash, { signal });
  return () => {
    listening.abort();
    fold.dispose();
  };
}
