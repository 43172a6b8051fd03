/**
 * Make the memory snapshot from which the worker starts: Python with pytok and the bridge imported.
 * Run by build.py in Node, once for each build; the worker checks it by its digest.
 *
 *     node web/snapshot.mjs PYODIDE_FOLDER WHEEL BRIDGE OUT
 */

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { putModules, visibleGlobals } from "./lib/pyodide.js";

const [folder, wheel, bridge, out] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const pyodide = await loadPyodide({
  indexURL: `${folder}/`,
  jsglobals: visibleGlobals(),
  _makeSnapshot: true,
});
putModules(pyodide, new Uint8Array(readFileSync(wheel)), readFileSync(bridge, "utf8"));
// Memory that was freed still holds what stood there; zeros pack to next to nothing.
pyodide.runPython(`
import gc, linecache, re, sys, zipimport
zipimport._zip_directory_cache.clear()
sys.path_importer_cache.clear()
re.purge()
linecache.clearcache()
gc.collect()
hold = [[bytes(size) for _ in range(150)] for size in range(8, 500, 8)]
hold += [bytes(100_000) for _ in range(2)]
del hold, gc, linecache, re, sys, zipimport
`);
writeFileSync(out, pyodide.makeMemorySnapshot());
