/** Show a token's bytes so that nothing is invisible: spaces, controls, parts of characters. */

import { make } from "./dom.js";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @type {Record<string, string>} */
const MARKS = { " ": "·", "\n": "⏎", "\r": "␍", "\t": "⇥" };

// Controls, formats (zero width, bidirectional), separators, private use, fillers and variation
// selectors: none has a picture of its own, and some change how their neighbours are shown.
const HIDDEN = /([\p{C}\p{Z}\u034F\u115F\u1160\u17B4\u17B5\u2800\u3164\uFE00-\uFE0F\uFFA0])/u;

// A piece may be as long as the file that holds it.
const SHOWN = 200;

/** @param {Uint8Array} bytes @returns {(Node | string)[]} */
export function markedPiece(bytes) {
  let text;
  try {
    text = utf8.decode(bytes);
  } catch {
    const hex = Array.from(bytes.subarray(0, SHOWN), (byte) => byte.toString(16).toUpperCase().padStart(2, "0"));
    return [make("span", { class: "hex", title: "part of a character, as bytes" }, hex.join(" "))];
  }
  // A combining mark alone would join the chip's edge; it gets a base to stand on.
  if (/^\p{M}/u.test(text)) text = `◌${text}`;
  const rest = text.length > SHOWN ? [make("span", { class: "mark" }, "…")] : [];
  const parts = text
    .slice(0, SHOWN)
    .split(HIDDEN)
    .filter(Boolean)
    .map((part) => {
      if (!HIDDEN.test(part)) return part;
      const code = /** @type {number} */ (part.codePointAt(0)).toString(16).toUpperCase();
      const mark = MARKS[part] ?? `U+${code.padStart(4, "0")}`;
      return make("span", { class: "mark" }, mark);
    });
  return [...parts, ...rest];
}
