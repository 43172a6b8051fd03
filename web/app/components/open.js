/**
 * Choose a model: drop, file picker, samples, address, or what was opened before.
 *
 * @import { Source } from "../../lib/types.js"
 * @import { Opening } from "../session.js"
 * @import { Store } from "../store.js"
 */

import { parseHubName } from "../../lib/hub.js";
import { elided } from "../../lib/text.js";
import { parseHash } from "../hash.js";
import { reopen } from "../recent.js";
import { find, make } from "./dom.js";
import { mountRecent } from "./recent.js";

/**
 * @param {ParentNode} root
 * @param {Store} store
 * @param {{ load: (source: Opening, name: string) => Promise<void> }} session
 * @returns {() => void} dispose
 */
export function mountOpen(root, store, session) {
  const drop = find(root, "#drop");
  const file = /** @type {HTMLInputElement} */ (find(root, "#file"));
  const samples = /** @type {HTMLSelectElement} */ (find(root, "#samples"));
  const remote = find(root, "#remote");
  const address = /** @type {HTMLInputElement} */ (find(root, "#address"));
  const listening = new AbortController();
  const { signal } = listening;

  let hasChosen = false;
  let shownSample = ""; // of the model that is loaded
  let wantedSample = "";

  /** @param {Opening} source @param {string} name @param {string} [sample] */
  function load(source, name, sample = "") {
    hasChosen = true;
    samples.value = wantedSample = sample;
    return session.load(source, name);
  }

  const recent = mountRecent(root, store, {
    openHandle: (handle) => openHandle(handle),
    openAddress: (text) => load(sourceOf(text) ?? text, text),
  });

  /** @param {FileSystemFileHandle} handle */
  async function openHandle(handle) {
    try {
      const opened = await reopen(handle);
      await load(opened, opened.name);
      if (!store.get().loadError) await recent.add({ name: handle.name, handle });
    } catch (error) {
      store.set({ loadError: `${elided(handle.name, 80)}: ${/** @type {Error} */ (error).message}.` });
    }
  }

  /** @param {File | undefined} chosen */
  function open(chosen) {
    if (chosen) load(chosen, chosen.name);
  }

  file.addEventListener(
    "change",
    () => {
      open(file.files?.[0]);
      file.value = ""; // so that choosing the same file again is a change
    },
    { signal },
  );
  // A file dropped anywhere is meant for us; without this the browser would leave the page.
  addEventListener(
    "dragover",
    (event) => {
      event.preventDefault();
      drop.classList.add("over");
    },
    { signal },
  );
  addEventListener("dragleave", () => drop.classList.remove("over"), { signal });
  addEventListener(
    "drop",
    async (event) => {
      drop.classList.remove("over");
      const { items, files } = event.dataTransfer ?? {};
      if (!files?.length) return;
      event.preventDefault();
      const dropped = files[0];
      const item = /** @type {{ getAsFileSystemHandle?: () => Promise<FileSystemHandle | null> }} */ (
        /** @type {unknown} */ ([...(items ?? [])].find(({ kind }) => kind === "file"))
      );
      // Only while the event lasts can a handle be asked for.
      const handle = item?.getAsFileSystemHandle?.().catch(() => null);
      await load(dropped, dropped.name);
      const known = await handle;
      if (known?.kind !== "file" || store.get().fileName !== dropped.name) return;
      await recent.add({ name: known.name, handle: /** @type {FileSystemFileHandle} */ (known) });
    },
    { signal },
  );

  remote.addEventListener(
    "submit",
    async (event) => {
      event.preventDefault();
      const text = address.value.trim();
      if (!text) return;
      const source = sourceOf(text);
      if (!source) {
        store.set({ loadError: `${elided(text, 80)}: this is neither owner/repo nor a URL.` });
        return;
      }
      await load(source, text);
      if (store.get().fileName === text && !store.get().loadError) {
        await recent.add({ name: text, address: text });
      }
    },
    { signal },
  );

  samples.append(make("option", { value: "" }, "a sample model"));
  samples.addEventListener(
    "change",
    () => {
      const option = samples.selectedOptions[0];
      if (!samples.value) return;
      const file = samples.value;
      load((signal) => fetchedSample(file, signal), option.label, file);
    },
    { signal },
  );
  fetch("samples/index.json", { signal })
    .then((response) => response.json())
    .then((/** @type {{ file: string, name: string, licence: string }[]} */ list) => {
      for (const { file: value, name, licence } of list) {
        samples.append(make("option", { value }, `${name} (${licence})`));
      }
      // A first visitor sees tokens at once; who has chosen already keeps the choice.
      if (hasChosen || !list.length) return;
      samples.value = linkedSample() ?? list[0].file;
      if (!samples.value) samples.value = list[0].file; // a link to what is not there
      samples.dispatchEvent(new Event("change"));
    })
    .catch(() => {
      samples.disabled = true;
    });

  /** What a link asks for is taken if it is a sample; an address waits for the person. */
  function linkedSample() {
    try {
      const { sample, model } = parseHash(location.hash);
      if (model && !address.value) address.value = model;
      return sample;
    } catch {
      return undefined; // too long: told already
    }
  }

  open(file.files?.[0]); // chosen before this script ran

  const unwatch = store.watch((state, before) => {
    if (state.loadError && !before.loadError) samples.value = wantedSample = shownSample;
    if (state.tokenizer !== before.tokenizer && state.tokenizer) shownSample = wantedSample;
  });
  return () => {
    listening.abort();
    recent.dispose();
    unwatch();
  };
}

/**
 * A sample is small, and wanted whole: so a host may pack it, and the browser keeps it.
 *
 * @param {string} name
 * @param {AbortSignal} signal
 */
async function fetchedSample(name, signal) {
  const response = await fetch(`samples/${name}`, { signal });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return new File([await response.blob()], name);
}

/** @param {string} text as a person enters it @returns {Source | null} null if it makes no sense */
function sourceOf(text) {
  if (parseHubName(text)) return text;
  const isHost = /^[\w-]+(\.[\w-]+)+(:\d+)?\//.test(text);
  try {
    return new URL(isHost ? `https://${text}` : text, document.baseURI);
  } catch {
    return null;
  }
}
