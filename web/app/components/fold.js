/**
 * Fold a long text area: laying out 1 MB of text freezes Chromium for some 200 ms, whatever
 * its style. A folded area keeps its whole value; a button in its place shows the beginning,
 * and opens it by a click or by typing on.
 */

import { find, make } from "./dom.js";

// Layout of this much takes about 40 ms on a small machine.
const LONG = 200_000;
const SHOWN = 4_000;

// Keys that go elsewhere, or to the browser; and those that edit although Ctrl is held.
const PASSING = /^(Tab|Shift|Control|Alt|Meta|Escape|F\d+)$/;
const EDITING = /^[acvxyz]$/i;

/**
 * @param {HTMLTextAreaElement} area in an element that also holds a button.preview
 * @param {(length: number) => string} describe what to say of a folded value
 * @returns {{ assign: (value: string, caret?: number) => void, update: () => void, dispose: () => void }}
 *   assign sets the value; update is to be called after somebody else has changed it
 */
export function mountFold(area, describe) {
  const preview = find(/** @type {HTMLElement} */ (area.parentElement), ".preview");
  const listening = new AbortController();
  const { signal } = listening;
  let length = 0;
  /** @type {number | undefined} where it is to stand when the area is opened */
  let caretWhenOpened;

  function fold() {
    area.classList.add("folded");
    preview.hidden = false;
    if (document.activeElement !== area) return;
    // A caret or a selection in the area would have it laid out after all.
    preview.focus();
    getSelection()?.removeAllRanges();
  }

  function open() {
    area.classList.remove("folded");
    preview.hidden = true;
    area.focus();
    if (caretWhenOpened !== undefined) area.setSelectionRange(caretWhenOpened, caretWhenOpened);
    caretWhenOpened = undefined;
  }

  /** @param {string} value @param {number} [caret] */
  function assign(value, caret) {
    caretWhenOpened = caret;
    if (value.length > LONG) fold(); // before there is anything long to lay out
    area.value = value;
    update();
  }

  function update() {
    const grown = area.value.length - length;
    length = area.value.length;
    if (length <= LONG) {
      if (!preview.hidden) area.classList.remove("folded");
      preview.hidden = true;
      return;
    }
    // Who types on in an open area goes on seeing it.
    if (preview.hidden && grown > LONG / 2) fold();
    if (!preview.hidden) {
      preview.replaceChildren(
        make("span", { class: "start" }, area.value.slice(0, SHOWN)),
        make("span", { class: "note" }, describe(length)),
      );
    }
  }

  preview.addEventListener("click", open, { signal });
  // Focus comes to a folded area from programs only, such as those that fill in forms.
  area.addEventListener("focus", () => !preview.hidden && open(), { signal });
  preview.addEventListener(
    "keydown",
    (event) => {
      const command = event.ctrlKey || event.metaKey || event.altKey;
      if (command ? EDITING.test(event.key) : !PASSING.test(event.key)) open();
    },
    { signal },
  );
  return { assign, update, dispose: () => listening.abort() };
}
