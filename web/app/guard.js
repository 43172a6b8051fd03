/**
 * The only script of guard.html, a hidden frame whose policy lets nothing reach another
 * origin. A worker made from a blob: URL inherits that policy, also on a host that sends no
 * headers; a worker loaded by its own URL would not.
 */

const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("pytok-worker", {
  /** @param {string} url */
  createScriptURL(url) {
    if (!url.startsWith("blob:")) throw new TypeError("only blobs made here become workers");
    return url;
  },
});

/** @param {string} url a module worker of this origin @returns {Worker} */
function startWorker(url) {
  const module = new URL(url, document.baseURI);
  if (module.origin !== location.origin) throw new TypeError("not a worker of this origin");
  // Only import() is open to the module: a static import would fall under worker-src. Until
  // it has run, messages wait.
  const code = `
    const early = [];
    onmessage = (event) => early.push(event);
    import(${JSON.stringify(module.href)}).then(() => early.forEach(onmessage), reportError);`;
  const blob = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  return new Worker(policy?.createScriptURL(blob) ?? blob, { type: "module", name: "pytok" });
}

Object.assign(globalThis, { startWorker });
