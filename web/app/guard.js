/**
 * The only script of guard.html, a hidden frame whose policy lets nothing reach another
 * origin. A worker made from a blob: URL inherits that policy, also on a host that sends no
 * headers; a worker loaded by its own URL would not.
 */

const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("pytok-worker", {
  /** @param {string} url */
  createScriptURL(url) {
    if (!url.startsWith("blob:") && new URL(url).origin !== location.origin) {
      throw new TypeError("only blobs made here, and modules of this origin, become workers");
    }
    return url;
  },
});

/**
 * @param {string} url a module worker of this origin
 * @returns {Promise<Worker>} it can reach no other origin
 */
async function startWorker(url) {
  const module = new URL(url, document.baseURI);
  if (module.origin !== location.origin) throw new TypeError("not a worker of this origin");
  // A host whose own headers forbid blobs can do with a worker that its headers bind.
  if (!(await policiesOf(location.href)).every(allowsBlobs)) {
    if (!(await policiesOf(module.href)).some(bindsToOrigin)) {
      throw new Error("this host's Content-Security-Policy lets no guarded worker start");
    }
    return start(module.href);
  }
  // Only import() is open to the module: a static import would fall under worker-src. Until
  // it has run, messages wait.
  const code = `
    const early = [];
    onmessage = (event) => early.push(event);
    import(${JSON.stringify(module.href)}).then(() => early.forEach(onmessage), reportError);`;
  return start(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
}

/** @param {string} url */
const start = (url) =>
  new Worker(policy?.createScriptURL(url) ?? url, { type: "module", name: "pytok" });

/** @typedef {Map<string, string[]>} Policy directive -> sources */

/** @param {string} url @returns {Promise<Policy[]>} those of the response's header */
async function policiesOf(url) {
  const { headers } = await fetch(url, { method: "HEAD" });
  const texts = (headers.get("Content-Security-Policy") ?? "").split(",").filter(Boolean);
  return texts.map((text) => {
    const directives = text.split(";").map((directive) => directive.trim().split(/\s+/));
    return new Map(directives.reverse().map(([name, ...sources]) => [name.toLowerCase(), sources]));
  });
}

/** @param {Policy} directives @param {string[]} names the first of them that is there counts */
const sourcesOf = (directives, names) =>
  names.map((name) => directives.get(name)).find((sources) => sources !== undefined);

/** @param {Policy} directives */
const allowsBlobs = (directives) =>
  sourcesOf(directives, ["worker-src", "child-src", "script-src", "default-src"])?.includes("blob:") ??
  true;

/** @param {Policy} directives */
const bindsToOrigin = (directives) =>
  sourcesOf(directives, ["connect-src", "default-src"])?.every((source) => /^'(self|none)'$/.test(source)) ??
  false;

Object.assign(globalThis, { startWorker });
