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
    /** @param {string} reason */
    const failed = (reason) => {
      const error = new Error(`could not fetch ${path}: ${reason}`);
      onFailure(error);
      return error;
    };
    const response = await plainFetch(resource, { ...init, integrity: digest }).catch(() => {
      throw failed("there is no connection, or it is not the file that this page was built with");
    });
    if (!response.ok) throw failed(`the server answered ${response.status}`);
    return response;
  };
}

/**
 * @param {(step: Step) => void} onStep
 * @returns {Promise<{ pyodide: PyodideAPI, assets: Assets }>} a Pyodide in which `pytok` can be
 *   imported
 */
export async function startPyodide(onStep) {
  onStep({ phase: "starting Python" });
  const assets = await (await fetched("assets.json")).json();
  return new Promise((resolve, reject) => {
    pinFetches(assets, reject);
    install(assets, onStep).then((pyodide) => resolve({ pyodide, assets }), reject);
  });
}

/** @param {Assets} assets @param {(step: Step) => void} onStep @returns {Promise<PyodideAPI>} */
async function install(assets, onStep) {
  // A module cannot be imported by its digest, so its digest is looked at before.
  await Promise.all(["pyodide/pyodide.mjs", "pyodide/pyodide.asm.mjs"].map(fetched));
  const { loadPyodide, version } = await import(beside("pyodide/pyodide.mjs"));
  if (version !== PYODIDE_VERSION) throw new Error(`Pyodide ${version} is not ${PYODIDE_VERSION}`);
  const globals = /** @type {Record<string, unknown>} */ (globalThis);
  const indexURL = beside("pyodide/");
  const pyodide = await loadPyodide({
    indexURL,
    packageBaseUrl: indexURL,
    jsglobals: Object.fromEntries(VISIBLE.map((name) => [name, globals[name]])),
  });

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
  return pyodide;
}

/**
 * @param {PyodideAPI} pyodide
 * @returns {Promise<any>} the module bridge.py
 */
export async function importBridge(pyodide) {
  const source = await (await fetched("bridge.py")).text();
  const place = /** @type {string} */ (pyodide.runPython("import site; site.getsitepackages()[0]"));
  pyodide.FS.writeFile(`${place}/pytok_bridge.py`, source);
  pyodide.runPython("import importlib; importlib.invalidate_caches()");
  return pyodide.pyimport("pytok_bridge");
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
