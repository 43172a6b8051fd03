/** The playground: builds the store and the session, and mounts the components. */

import { mountEditor } from "./components/editor.js";
import { mountModel } from "./components/model.js";
import { mountOpen } from "./components/open.js";
import { mountResult } from "./components/result.js";
import { createSession } from "./session.js";
import { createStore } from "./store.js";

/** @type {import("./store.js").Store} */
const store = createStore({
  step: null,
  loadError: "",
  encodeError: "",
  linkError: "",
  canRetry: false,
  tokenizer: null,
  fileName: "",
  addSpecial: true,
  parseSpecial: false,
  ids: null,
  page: 0,
});
const text = /** @type {HTMLTextAreaElement} */ (document.getElementById("text"));
const session = createSession(store, () => text.value);

mountEditor(document, store, session); // first: a link may bring a text and switches
mountOpen(document, store, session);
mountModel(document, store, session);
mountResult(document, store);
