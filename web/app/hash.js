/**
 * The part of the page's address behind `#`: a text, the switches, a model. Whoever made the link
 * wrote it, so it is short, and it makes the page ask no other server: an address of a model is
 * only put where the person can load it.
 */

const MAX_LENGTH = 16_384;

/**
 * @typedef {object} HashState
 * @property {string} [text]
 * @property {boolean} [addSpecial]
 * @property {boolean} [parseSpecial]
 * @property {string} [sample] a file of the sample models
 * @property {string} [model] a URL or a name on the hub
 */

const SWITCH = new Map(Object.entries({ 0: false, 1: true, false: false, true: true }));

/**
 * @param {string} hash as in `location.hash`
 * @returns {HashState}
 * @throws {RangeError} if it is too long
 */
export function parseHash(hash) {
  if (hash.length > MAX_LENGTH) {
    const [length, most] = [hash.length, MAX_LENGTH].map((count) => count.toLocaleString("en"));
    throw new RangeError(
      `The link to this page carries ${length} characters, at most ${most} are read: they were ignored.`,
    );
  }
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  /** @param {string} name @param {number} most */
  const short = (name, most) => {
    const value = values.get(name);
    return value === null || value.length > most ? undefined : value;
  };
  return {
    text: short("text", MAX_LENGTH),
    addSpecial: SWITCH.get(values.get("add_special") ?? ""),
    parseSpecial: SWITCH.get(values.get("parse_special") ?? ""),
    sample: short("sample", 100),
    model: short("model", 1000),
  };
}
