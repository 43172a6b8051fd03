/**
 * Text that nobody vouches for, shown so that nothing in it is invisible and nothing changes how
 * its surroundings are shown.
 */

import { make } from "./dom.js";

/** @type {Record<string, string>} */
const MARKS = { " ": "·", "\n": "⏎", "\r": "␍", "\t": "⇥" };

// Controls, formats (zero width, bidirectional), separators, private use, fillers and variation
// selectors: none has a picture of its own, and some change how their neighbours are shown.
const HIDDEN = /([\p{C}\p{Z}\u034F\u115F\u1160\u17B4\u17B5\u2800\u3164\uFE00-\uFE0F\uFFA0])/u;

/**
 * @param {string} text
 * @param {number} limit of characters shown
 * @returns {(Node | string)[]}
 */
export function marked(text, limit) {
  // A combining mark alone would join what stands before it; it gets a base to stand on.
  const whole = /^\p{M}/u.test(text) ? `◌${text}` : text;
  const rest = whole.length > limit ? [make("span", { class: "mark" }, "…")] : [];
  const parts = whole
    .slice(0, limit)
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

/**
 * @param {string} text words and spaces, such as a file's name or a sentence that holds one
 * @param {number} [limit]
 * @returns {HTMLElement} isolated from the direction of its surroundings
 */
export function foreign(text, limit = 1000) {
  const parts = text.split(" ").flatMap((word, index) => (index ? [" ", word] : [word]));
  const nodes = parts.flatMap((part) => (part === " " ? [part] : marked(part, limit)));
  const element = make("bdi", {}, ...nodes);
  element.normalize();
  return element;
}
