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

/** @param {string} path @param {RequestInit} [init] */
async function fetched(path, init) {
  const response = await fetch(beside(path), init);
  if (!response.ok) throw new Error(`could not fetch ${path}: the server answered ${response.status}`);
  return response;
}

/**
 * @param {(step: Step) => void} onStep
 * @returns {Promise<PyodideAPI>} a Pyodide in which `pytok` can be imported
 */
export async function startPyodide(onStep) {
  onStep({ phase: "starting Python" });
  const { loadPyodide, version } = await import(beside("pyodide/pyodide.mjs"));
  if (version !== PYODIDE_VERSION) throw new Error(`Pyodide ${version} is not ${PYODIDE_VERSION}`);
  const globals = /** @type {Record<string, unknown>} */ (globalThis);
  const indexURL = beside("pyodide/");
  const [pyodide, assets] = await Promise.all([
    loadPyodide({
      indexURL,
      packageBaseUrl: indexURL,
      jsglobals: Object.fromEntries(VISIBLE.map((name) => [name, globals[name]])),
    }),
    fetched("assets.json").then((response) => response.json()),
    // Without this file loadPyodide waits for ever.
    fetched("pyodide/pyodide.asm.wasm", { method: "HEAD" }),
  ]);

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
