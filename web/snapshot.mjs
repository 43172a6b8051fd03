/**
 * Make the memory snapshot from which the worker starts: Python with pytok and the bridge imported.
 * Run by build.py in Node, once for each build; the worker checks it by its digest.
 *
 *     node web/snapshot.mjs PYODIDE_FOLDER WHEEL BRIDGE OUT
 */

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

import { putModules, visibleGlobals } from "./lib/pyodide.js";

const [folder, wheel, bridge, out] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const pyodide = await loadPyodide({
  indexURL: `${folder}/`,
  jsglobals: visibleGlobals(),
  _makeSnapshot: true,
});
putModules(pyodide, new Uint8Array(readFileSync(wheel)), readFileSync(bridge, "utf8"));
// The worker unpacks it: not every host compresses such files on the way.
writeFileSync(out, gzipSync(pyodide.makeMemorySnapshot(), { level: 9 }));
