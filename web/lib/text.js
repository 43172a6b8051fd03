/** Small things about texts for people. */

/**
 * @param {string} text such as a file's name or an address
 * @param {number} limit
 * @returns {string} of at most so many characters: its middle says the least
 */
export function elided(text, limit) {
  if (text.length <= limit) return text;
  const end = Math.floor((limit - 1) / 3);
  return `${text.slice(0, limit - 1 - end)}…${text.slice(-end)}`;
}
