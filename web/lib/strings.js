/**
 * Cut the strings of a GGUF array: the one part of reading a header that is worth doing here, for
 * there are hundreds of thousands of them. Whatever is unusual is left to the reader in Python.
 */

// How many bytes are asked for at once, as the reader in Python does.
const FIRST_STEP = 1 << 16;
const LAST_STEP = 1 << 22;

/**
 * @param {(offset: number, size: number) => Promise<Uint8Array>} read
 * @param {number} offset where the array's first item begins
 * @param {number} count
 * @returns {Promise<Uint8Array | null>} the strings with a NUL between each; null if one of them
 *   is long, holds a NUL or is not all there; `count` is not 0
 */
export async function cutStrings(read, offset, count) {
  let out = new Uint8Array(LAST_STEP);
  let size = 0;
  /** @type {Uint8Array} */
  let rest = new Uint8Array(); // of a string that the last window cut off
  for (let index = 0, step = FIRST_STEP; index < count; step = Math.min(step * 2, LAST_STEP)) {
    const more = await read(offset, step);
    if (!more.length) return null;
    offset += more.length;
    const data = rest.length ? joined(rest, more) : more;
    if (out.length < size + data.length) out = joined(out, new Uint8Array(data.length + LAST_STEP));
    let pos = 0;
    for (; index < count && pos + 8 <= data.length; index++) {
      const length = data[pos] | (data[pos + 1] << 8); // at most 65,535: none longer is a piece
      for (let at = pos + 2; at < pos + 8; at++) if (data[at]) return null;
      const end = pos + 8 + length;
      if (end > data.length) break;
      for (pos += 8; pos < end; pos++) {
        if (!data[pos]) return null;
        out[size++] = data[pos];
      }
      out[size++] = 0;
    }
    rest = data.subarray(pos);
  }
  return out.subarray(0, size - 1);
}

/** @param {Uint8Array} left @param {Uint8Array} right */
function joined(left, right) {
  const both = new Uint8Array(left.length + right.length);
  both.set(left);
  both.set(right, left.length);
  return both;
}
