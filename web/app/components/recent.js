/**
 * What was opened before, and what the browser keeps for us: to be opened again, or cleared.
 *
 * @import { Recent } from "../recent.js"
 * @import { Store } from "../store.js"
 */

import { clearCache, keptBytes } from "../../lib/client.js";
import { forget, list, remember } from "../recent.js";
import { find, make } from "./dom.js";
import { foreign } from "./marks.js";

const picker = /** @type {{ showOpenFilePicker?: () => Promise<FileSystemFileHandle[]> }} */ (
  /** @type {unknown} */ (globalThis)
);

/**
 * @param {ParentNode} root
 * @param {Store} store
 * @param {{ openHandle: (handle: FileSystemFileHandle) => void, openAddress: (text: string) => void }} actions
 * @returns {{ add: (what: Omit<Recent, "used">) => Promise<void>, dispose: () => void }}
 */
export function mountRecent(root, store, { openHandle, openAddress }) {
  const group = find(root, "#recent");

  /** @param {string} label @param {() => void} action */
  function button(label, action) {
    const made = make("button", { type: "button", class: "quiet-button" }, label);
    made.addEventListener("click", action);
    return made;
  }

  async function pick() {
    // Rejected if the person thinks better of it.
    const [handle] = (await picker.showOpenFilePicker?.().catch(() => [])) ?? [];
    if (handle) openHandle(handle);
  }

  async function clear() {
    await Promise.allSettled([forget(), clearCache()]);
    await show();
  }

  async function show() {
    // Without storage (a private window of some browsers) there is nothing to list.
    const all = await list().catch(() => []);
    const kept = await keptBytes().catch(() => 0);
    const rows = all.map(({ name, handle, address }) => {
      const again = button("", () => (handle ? openHandle(handle) : openAddress(address ?? name)));
      again.append(foreign(name, 80));
      return again;
    });
    const nodes = [];
    if (rows.length) nodes.push(make("span", {}, "Opened before:"), ...rows);
    if (picker.showOpenFilePicker) nodes.push(button("Open and remember", pick));
    if (rows.length || kept) {
      const what = kept ? `Clear, also ${(kept / 1e6).toFixed(1)} MB of kept vocabularies` : "Clear";
      nodes.push(button(what, clear));
    }
    group.replaceChildren(...nodes);
    group.hidden = !nodes.length;
  }

  show();
  // A vocabulary is kept some time after its load; the next load is soon enough to count it.
  const unwatch = store.watch((state, before) => {
    if (state.tokenizer !== before.tokenizer && state.tokenizer) show();
  });
  return {
    async add(what) {
      await remember(what).catch(() => {});
      await show();
    },
    dispose: unwatch,
  };
}
