/**
 * What is known of the model that is loaded, what is being waited for, and what went wrong.
 *
 * @import { Info, Step } from "../../lib/types.js"
 * @import { Store } from "../store.js"
 */

import { find, make } from "./dom.js";
import { foreign } from "./marks.js";

/** @param {number} count of bytes */
function asSize(count) {
  if (count < 1e6) return `${Math.max(1, Math.round(count / 1e3))} kB`;
  return count < 1e9 ? `${(count / 1e6).toFixed(1)} MB` : `${(count / 1e9).toFixed(1)} GB`;
}

/** @param {Step | null} step */
function described(step) {
  if (!step) return "";
  if (!step.loaded) return `${step.phase}…`;
  if (step.phase !== "reading") {
    return `${step.phase}: ${Math.floor((100 * step.loaded) / (step.total || Infinity))} %…`;
  }
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
 * @param {{ cancel: () => void, retry: () => void }} session
 * @returns {() => void} dispose
 */
export function mountModel(root, store, session) {
  const phase = find(root, "#phase");
  const cancel = find(root, "#cancel");
  const error = find(root, "#error");
  const retry = find(root, "#retry");
  const chip = find(root, "#chip");
  const warnings = find(root, "#warnings");
  cancel.addEventListener("click", session.cancel);
  retry.addEventListener("click", session.retry);

  let shown = "";
  const unwatch = store.watch((state, before) => {
    if (state.step !== before.step) {
      phase.textContent = described(state.step);
      cancel.hidden = !state.step;
    }
    const sentence = state.loadError || state.encodeError || state.linkError;
    if (shown !== sentence) {
      shown = sentence;
      error.replaceChildren(foreign(sentence));
      error.hidden = !sentence;
    }
    retry.hidden = !state.canRetry || Boolean(state.step);
    if (state.tokenizer !== before.tokenizer && state.tokenizer) {
      const { info } = state.tokenizer;
      const list = make("dl");
      for (const [name, value] of facts(info, state.fileName)) {
        list.append(make("div", {}, make("dt", {}, name), make("dd", {}, foreign(value, 200))));
      }
      chip.replaceChildren(make("strong", {}, foreign(info.name || info.architecture || "A model without a name", 200)), list);
      chip.hidden = false;
      warnings.replaceChildren(...info.warnings.map((line) => make("li", {}, foreign(line))));
      warnings.hidden = !info.warnings.length;
    }
  });

  return () => {
    cancel.removeEventListener("click", session.cancel);
    retry.removeEventListener("click", session.retry);
    unwatch();
  };
}
