/**
 * Start Pyodide and put pytok into it. Only this module knows Pyodide's version and files.
 *
 * @import { PyodideAPI } from "pyodide"
 * @import { Step } from "./types.js"
 */

export const PYODIDE_VERSION = "314.0.7";

// All that Python sees of JavaScript: values and timers, no network, storage or worker.
const VISIBLE = [
  "AbortController", "AbortSignal", "Array", "ArrayBuffer", "Boolean", "Error", "JSON", "Map",
  "Math", "Number", "Object", "Promise", "Set", "String", "Symbol", "TypeError", "Uint8Array",
  "clearTimeout", "setTimeout",
];

const SNAPSHOT = "snapshot.pack";
const STDLIB = "pyodide/python_stdlib.zip";
// Pyodide always puts the standard library in, but a snapshot has imported what it needs of it.
const EMPTY_ZIP = Uint8Array.of(0x50, 0x4b, 5, 6, ...new Array(18).fill(0));
let needsStdlib = true;

/** @param {string} path a file beside this module */
const beside = (path) => new URL(path, import.meta.url).href;

/** @param {string} path */
async function fetched(path) {
  const response = await fetch(beside(path));
  if (!response.ok) throw new Error(`could not fetch ${path}: the server answered ${response.status}`);
  return response;
}

/**
 * @typedef {object} Assets what build.py has put beside this module
 * @property {string} version of everything that computes ids
 * @property {string} pytok the wheel's name
 * @property {string} micropip likewise
 * @property {Record<string, string>} integrity path -> digest
 */

/**
 * Hold everything that is fetched from now on, by Pyodide too, against the digest it was built
 * with. Some faults inside Pyodide's start reach nobody, so `onFailure` is told of them.
 *
 * @param {Assets} assets
 * @param {(error: Error) => void} onFailure
 */
function pinFetches({ integrity }, onFailure) {
  const digests = new Map(Object.entries(integrity).map(([path, digest]) => [beside(path), digest]));
  const plainFetch = fetch;
  globalThis.fetch = async (resource, init) => {
    const url = resource instanceof Request ? resource.url : String(resource);
    const digest = digests.get(url);
    if (!digest) return plainFetch(resource, init);
    const path = url.slice(beside("./").length);
    if (path === STDLIB && !needsStdlib) return new Response(EMPTY_ZIP);
    /** @param {string} reason */
    const failed = (reason) => {
      const error = new Error(`could not fetch ${path}: ${reason}`);
      if (path !== SNAPSHOT) onFailure(error); // without a snapshot there is another way
      return error;
    };
    const response = await plainFetch(resource, { ...init, integrity: digest }).catch(() => {
      throw failed("there is no connection, or it is not the file that this page was built with");
    });
    if (!response.ok) throw failed(`the server answered ${response.status}`);
    return response;
  };
}

/** What Python is to see of JavaScript; the same when a snapshot is made and when it is used. */
export function visibleGlobals() {
  const globals = /** @type {Record<string, unknown>} */ (globalThis);
  return Object.fromEntries(VISIBLE.map((name) => [name, globals[name]]));
}

/**
 * Start from the snapshot, or plainly where that is wanted or the snapshot cannot be had.
 *
 * @param {(step: Step) => void} onStep
 * @param {boolean} [isPlain]
 * @returns {Promise<{ pyodide: PyodideAPI, bridge: any, assets: Assets }>} `bridge` is the module
 *   bridge.py
 */
export async function startPyodide(onStep, isPlain = false) {
  onStep({ phase: "starting Python" });
  const assets = await (await fetched("assets.json")).json();
  return new Promise((resolve, reject) => {
    pinFetches(assets, reject);
    const started = isPlain
      ? startPlainly(assets, onStep)
      : startFromSnapshot().catch(() => startPlainly(assets, onStep));
    started.then((pyodide) => {
      resolve({ pyodide, bridge: pyodide.pyimport("pytok_bridge"), assets });
    }).catch(reject);
  });
}

/** @param {object} options @returns {Promise<PyodideAPI>} */
async function load(options) {
  // A module cannot be imported by its digest, so its digest is looked at before.
  await Promise.all(["pyodide/pyodide.mjs", "pyodide/pyodide.asm.mjs"].map(fetched));
  const { loadPyodide, version } = await import(beside("pyodide/pyodide.mjs"));
  if (version !== PYODIDE_VERSION) throw new Error(`Pyodide ${version} is not ${PYODIDE_VERSION}`);
  const indexURL = beside("pyodide/");
  return loadPyodide({
    indexURL,
    packageBaseUrl: indexURL,
    jsglobals: visibleGlobals(),
    ...options,
  });
}

/** Memory as it was after the start and all imports; its files are gone. */
async function startFromSnapshot() {
  needsStdlib = false;
  const { body } = await fetched(SNAPSHOT);
  const unpacked = /** @type {ReadableStream} */ (body).pipeThrough(new DecompressionStream("gzip"));
  return load({ _loadSnapshot: new Response(unpacked).arrayBuffer() });
}

/** @param {Assets} assets @param {(step: Step) => void} onStep */
async function startPlainly(assets, onStep) {
  needsStdlib = true;
  const pyodide = await load({});
  onStep({ phase: "installing pytok" });
  await pyodide.loadPackage(beside(`wheels/${assets.micropip}`), { messageCallback() {} });
  // Python has no network, so the wheel is handed to micropip as a file.
  const wheel = `/tmp/${assets.pytok}`;
  const content = await (await fetched(`wheels/${assets.pytok}`)).arrayBuffer();
  pyodide.FS.writeFile(wheel, new Uint8Array(content));
  const micropip = pyodide.pyimport("micropip");
  await micropip.install.callKwargs(`emfs:${wheel}`, { deps: false });
  micropip.destroy();
  pyodide.FS.unlink(wheel);
  putBridge(pyodide, await (await fetched("bridge.py")).text());
  return pyodide;
}

/** @param {PyodideAPI} pyodide */
const sitePackages = (pyodide) =>
  /** @type {string} */ (pyodide.runPython("import site; site.getsitepackages()[0]"));

/** @param {PyodideAPI} pyodide @param {string} source of bridge.py */
function putBridge(pyodide, source) {
  pyodide.FS.writeFile(`${sitePackages(pyodide)}/pytok_bridge.py`, source);
  pyodide.runPython("import importlib; importlib.invalidate_caches(); import pytok_bridge");
}

/**
 * Put in the wheel and the bridge, and import all that they need: what a snapshot holds.
 *
 * @param {PyodideAPI} pyodide
 * @param {Uint8Array} wheel
 * @param {string} bridge source of bridge.py
 */
export function putModules(pyodide, wheel, bridge) {
  pyodide.unpackArchive(wheel, "zip", { extractDir: sitePackages(pyodide) });
  putBridge(pyodide, bridge);
}

/**
 * Copy a Python buffer out of wasm memory, and let go of it.
 *
 * @param {any} proxy
 * @param {string} type
 */
export function copied(proxy, type) {
  const buffer = proxy.getBuffer(type);
  try {
    return buffer.data.slice();
  } finally {
    buffer.release();
    proxy.destroy();
  }
}
