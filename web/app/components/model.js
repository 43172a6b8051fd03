/**
 * Choose a model: drop, file picker, samples; and what is known of the one that is loaded.
 *
 * @import { Info, Step } from "../../lib/types.js"
 * @import { Store } from "../store.js"
 */

import { find, make } from "./dom.js";

/** @param {number} count */
const asSize = (count) =>
  count < 1e6 ? `${Math.max(1, Math.round(count / 1e3))} kB` : `${(count / 1e6).toFixed(1)} MB`;

/** @param {Step | null} step */
function described(step) {
  if (!step) return "";
  if (step.phase !== "reading" || !step.loaded) return `${step.phase}…`;
  const of = step.total ? ` of ${asSize(step.total)}` : "";
  return `reading: ${asSize(step.loaded)}${of}…`;
}

/** @param {Info} info @param {string} fileName */
function facts(info, fileName) {
  const size = info.fileSize === null ? "" : ` of ${asSize(info.fileSize)}`;
  return [
    ["file", fileName],
    ["kind", info.pre ? `${info.kind}, ${info.pre}` : info.kind],
    ["tokens", info.vocabSize.toLocaleString("en")],
    ["read", `${asSize(info.bytesRead)}${size}`],
  ];
}

/**
 * @param {ParentNode} root
 * @param {Store} store
 * @param {{ load: (source: Blob | URL, fileName: string) => void }} session
 * @returns {() => void} dispose
 */
export function mountModel(root, store, session) {
  const drop = find(root, "#drop");
  const file = /** @type {HTMLInputElement} */ (find(root, "#file"));
  const samples = /** @type {HTMLSelectElement} */ (find(root, "#samples"));
  const phase = find(root, "#phase");
  const error = find(root, "#error");
  const chip = find(root, "#chip");
  const warnings = find(root, "#warnings");
  const listening = new AbortController();
  const { signal } = listening;

  let hasChosen = false;
  let shownSample = ""; // of the model that is loaded
  let wantedSample = "";

  /** @param {Blob | URL} source @param {string} name @param {string} sample */
  function load(source, name, sample) {
    hasChosen = true;
    samples.value = wantedSample = sample;
    session.load(source, name);
  }

  /** @param {File | undefined} chosen */
  function open(chosen) {
    if (chosen) load(chosen, chosen.name, "");
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
    (event) => {
      drop.classList.remove("over");
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      open(event.dataTransfer.files[0]);
    },
    { signal },
  );

  samples.append(make("option", { value: "" }, "a sample model"));
  samples.addEventListener(
    "change",
    () => {
      const option = samples.selectedOptions[0];
      if (!samples.value) return;
      load(new URL(`samples/${samples.value}`, document.baseURI), option.label, samples.value);
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
      samples.value = list[0].file;
      samples.dispatchEvent(new Event("change"));
    })
    .catch(() => {
      samples.disabled = true;
    });

  open(file.files?.[0]); // chosen before this script ran

  const unwatch = store.watch((state, before) => {
    if (state.step !== before.step) phase.textContent = described(state.step);
    const sentence = state.loadError || state.encodeError;
    if (error.textContent !== sentence) {
      error.textContent = sentence;
      error.hidden = !sentence;
    }
    if (state.loadError && !before.loadError) samples.value = wantedSample = shownSample;
    if (state.tokenizer !== before.tokenizer && state.tokenizer) {
      const { info } = state.tokenizer;
      shownSample = wantedSample;
      const list = make("dl");
      for (const [name, value] of facts(info, state.fileName)) {
        list.append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
      }
      chip.replaceChildren(make("strong", {}, info.name || state.fileName), list);
      chip.hidden = false;
      warnings.replaceChildren(...info.warnings.map((warning) => make("li", {}, warning)));
      warnings.hidden = !info.warnings.length;
    }
  });

  return () => {
    listening.abort();
    unwatch();
  };
}
