/** Start the library's worker where it can reach no other origin: in guard.html's frame. */

/** @returns {Promise<Worker>} */
export async function startGuardedWorker() {
  const frame = document.createElement("iframe");
  frame.hidden = true;
  frame.title = "worker";
  frame.src = new URL("../guard.html", import.meta.url).href;
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
  document.body.append(frame);
  await loaded;
  const guard = /** @type {{ startWorker?: (url: string) => Promise<Worker> } | null} */ (
    /** @type {unknown} */ (frame.contentWindow)
  );
  if (!guard?.startWorker) throw new Error("guard.html could not be loaded");
  // `?start=plain` in the page's address is for tests, and for whoever suspects the snapshot.
  const start = new URLSearchParams(location.search).get("start") === "plain" ? "?start=plain" : "";
  return guard.startWorker(new URL(`../lib/worker.js${start}`, import.meta.url).href);
}
