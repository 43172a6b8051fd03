/** Show a token's bytes so that nothing is invisible: spaces, controls, parts of characters. */

import { make } from "./dom.js";
import { marked } from "./marks.js";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

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
  return marked(text, SHOWN);
}
