/**
 * Measures one peer in a fresh worker. Times are in milliseconds.
 *
 *   load    its modules and its own work until the first ids, from bytes that are here already
 *   first   the first time that it sees the text, with empty caches and cold code
 *   second  the same text again, after another one
 */

import { PEERS } from "./peers.js";

const bytesOf = async (url) => (await fetch(url)).arrayBuffer();

async function timed(work) {
  const start = performance.now();
  const value = await work();
  return [performance.now() - start, value];
}

/** Modules from bytes that are here already, if they import nothing else. */
async function fetchedModules(urls) {
  for (const url of urls) await bytesOf(url); // into the HTTP cache
  return () => Promise.all(urls.map((url) => import(url)));
}

async function open({ vocab, peer }) {
  const { modules = [], assets = [], prepare, open } = PEERS[vocab][peer];
  const importAll = await fetchedModules(modules);
  const contents = await Promise.all(assets.map(bytesOf));
  const prepared = await prepare?.();
  const [load, tokenizer] = await timed(async () => {
    const tokenizer = await open(contents, prepared, await importAll());
    await tokenizer.encode("Hello");
    return tokenizer;
  });
  return { load, tokenizer };
}

const sum = (ids) => ids.reduce((sum, id) => (Math.imul(sum, 31) + id) | 0, 0);

const measures = {
  async encode({ text: url, ...which }) {
    const { load, tokenizer } = await open(which);
    const text = await (await fetch(url)).text();
    const found = { load, bytes: new TextEncoder().encode(text).length };
    let ids;
    [found.first, ids] = await timed(() => tokenizer.encode(text));
    found.ids = ids.length;
    found.sum = sum(ids);
    const again = async (name, work) => {
      const times = [];
      for (let round = 0; round < 3; round++) {
        await tokenizer.encode("another text"); // who remembers the last one gains nothing by it
        times.push((await timed(work))[0]);
      }
      found[name] = Math.min(...times);
    };
    await again("second", () => tokenizer.encode(text));
    if (tokenizer.count) await again("count", () => tokenizer.count(text));
    await again("decode", () => tokenizer.decode(ids));
    return found;
  },

  async load(which) {
    return { load: (await open(which)).load };
  },

  /** One character typed into a text, `times` times, at places all over it. */
  async edit({ text: url, size, times, ...which }) {
    const { tokenizer } = await open(which);
    let text = (await (await fetch(url)).text()).slice(0, size);
    await tokenizer.encode(text);
    await tokenizer.encode("another text");
    const [second] = await timed(() => tokenizer.encode(text));
    const edits = [];
    for (let count = 0; count < times; count++) {
      const at = Math.floor((text.length * ((count * 37) % 100)) / 100);
      text = `${text.slice(0, at)}x${text.slice(at)}`;
      edits.push((await timed(() => tokenizer.encode(text)))[0]);
    }
    return { second, edits };
  },

  /** One word of many characters. */
  async word({ word, ...which }) {
    const { tokenizer } = await open(which);
    const [time, ids] = await timed(() => tokenizer.encode(word));
    return { time, ids: ids.length };
  },
};

onmessage = async ({ data: { measure, ...params } }) => {
  try {
    postMessage({ value: await measures[measure](params) });
  } catch (error) {
    postMessage({ error: String(error?.stack ?? error).slice(0, 500) });
  }
};
