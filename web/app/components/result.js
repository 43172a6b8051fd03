/**
 * The count, the tokens as chips, a page of them at a time, and all ids.
 *
 * @import { Pieces } from "../../lib/types.js"
 * @import { State, Store } from "../store.js"
 */

import { find, make } from "./dom.js";
import { mountFold } from "./fold.js";
import { markedPiece } from "./piece.js";

// Chips in the document at once; each is a few elements.
const PAGE = 500;

// llama.h: LLAMA_TOKEN_ATTR_UNKNOWN, CONTROL, USER_DEFINED.
const SPECIAL = 1 | 8 | 16;

/**
 * @param {ParentNode} root
 * @param {Store} store
 * @returns {() => void} dispose
 */
export function mountResult(root, store) {
  const count = find(root, "#count");
  const pager = find(root, "#pager");
  const empty = find(root, "#empty");
  const tokens = find(root, "#tokens");
  const idsBox = /** @type {HTMLTextAreaElement} */ (find(root, "#ids"));
  const copy = /** @type {HTMLButtonElement} */ (find(root, "#copy"));
  const fold = mountFold(idsBox, () => "The beginning. Copy takes all; click to open.");
  copy.addEventListener("click", async () => {
    // Without https, or without leave, there is no clipboard to write to.
    const copied = await Promise.resolve(navigator.clipboard?.writeText(idsBox.value)).then(
      () => Boolean(navigator.clipboard),
      () => false,
    );
    copy.textContent = copied ? "Copied" : "Not allowed here: select and copy";
    setTimeout(() => (copy.textContent = "Copy"), 2500);
  });

  /** @param {number} page */
  const goTo = (page) => store.set({ page: Math.max(0, Math.min(page, lastPage(store.get().ids))) });
  const previous = make("button", { type: "button", "aria-label": "Previous page" }, "‹");
  const next = make("button", { type: "button", "aria-label": "Next page" }, "›");
  const where = make("span");
  previous.addEventListener("click", () => goTo(store.get().page - 1));
  next.addEventListener("click", () => goTo(store.get().page + 1));
  pager.append(previous, where, next);

  /** @param {State} state */
  function showCount({ ids, tokenizer, step }) {
    const number = ids?.length;
    count.textContent = number === undefined ? "" : `${number} ${number === 1 ? "token" : "tokens"}`;
    empty.textContent = number
      ? ""
      : number === 0
        ? "No tokens yet: type something."
        : step
          ? "The tokens will stand here as soon as the model is loaded."
          : tokenizer
            ? ""
            : "Open a GGUF file or take a sample model to see the tokens of the text.";
    fold.assign(ids ? `[${ids.join(", ")}]` : "");
    copy.disabled = !ids;
  }

  /** @param {State} state */
  async function showPage({ ids, page, tokenizer }) {
    const all = ids ?? new Int32Array(0);
    const start = page * PAGE;
    const shown = all.subarray(start, start + PAGE);
    pager.hidden = all.length <= PAGE;
    // Not disabled in earnest: a button that is would lose the focus.
    previous.setAttribute("aria-disabled", String(page === 0));
    next.setAttribute("aria-disabled", String(start + PAGE >= all.length));
    where.textContent = `${start + 1}–${start + shown.length} of ${all.length}`;
    if (!shown.length || !tokenizer) {
      tokens.replaceChildren();
      return;
    }
    const pieces = await tokenizer.pieces(shown).catch(() => null);
    const state = store.get();
    if (!pieces || state.ids !== ids || state.page !== page) return; // out of date
    tokens.replaceChildren(...chips(shown, pieces, start));
  }

  const unwatch = store.watch((state, before) => {
    if (state.ids !== before.ids || state.step !== before.step) showCount(state);
    if (state.ids !== before.ids && state.page > lastPage(state.ids)) goTo(state.page);
    else if (state.ids !== before.ids || state.page !== before.page) showPage(state);
  });
  return () => {
    unwatch();
    fold.dispose();
  };
}

/** @param {Int32Array | null} ids */
const lastPage = (ids) => Math.max(0, Math.ceil((ids?.length ?? 0) / PAGE) - 1);

/**
 * @param {Int32Array} ids
 * @param {Pieces} pieces
 * @param {number} first index of the first token in the text
 */
function chips(ids, { bytes, ends, attrs }, first) {
  return Array.from(ids, (id, index) => {
    const piece = bytes.subarray(index ? ends[index - 1] : 0, ends[index]);
    const chip = make(
      "li",
      { "data-token-id": String(id), value: String(first + index + 1) },
      make("span", { class: "piece", dir: "auto" }, ...markedPiece(piece)),
      make("span", { class: "id" }, String(id)),
    );
    if (attrs[index] & SPECIAL) chip.classList.add("special");
    // Equal tokens look equal; neighbouring ids do not.
    chip.classList.add(`hue-${(id * 7) % 12}`);
    return chip;
  });
}
