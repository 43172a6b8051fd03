/**
 * What is measured, each through the same few functions. `open` gets the bytes of `assets` and
 * returns a tokenizer; nothing is fetched after that. Special tokens are neither added nor parsed.
 *
 * Paths: /peers/ holds the npm packages, /models/ what models.py writes, /vocabs/ the GGUFs,
 * /pytok/ the built playground.
 */

const json = (bytes) => JSON.parse(new TextDecoder().decode(bytes));
const gguf = (name) => `/vocabs/ggml-vocab-${name}.gguf`;

const pytok = (name) => ({
  assets: [gguf(name)],
  // The engine is awake before: its start is measured with the page.
  async prepare() {
    const { Engine, Tokenizer } = await import("/pytok/lib/client.js");
    const engine = await new Promise((resolve) => {
      const engine = new Engine({ onProgress: ({ phase }) => phase === "ready" && resolve(engine) });
    });
    return { Tokenizer, engine };
  },
  async open([file], { Tokenizer, engine }) {
    const tokenizer = await Tokenizer.load(file, { engine });
    const options = { addSpecial: false };
    return {
      encode: (text) => tokenizer.encode(text, options),
      count: (text) => tokenizer.countTokens(text, options),
      decode: (ids) => tokenizer.decode(ids),
    };
  },
});

const kitoken = (name) => ({
  modules: ["/peers/kitoken/dist/web.js"],
  assets: ["/peers/kitoken/dist/web_bg.wasm", `/models/${name}/tokenizer.json`],
  async open([wasm, tokenizerJson], _, [{ default: init, Kitoken }]) {
    await init({ module_or_path: wasm });
    const tokenizer = Kitoken.from_tokenizers(new Uint8Array(tokenizerJson));
    return {
      encode: (text) => tokenizer.encode(text, false),
      decode: (ids) => new TextDecoder().decode(tokenizer.decode(ids, false)),
    };
  },
});

const tokenizersJs = (name) => ({
  modules: ["/peers/@huggingface/tokenizers/dist/tokenizers.min.mjs"],
  assets: [`/models/${name}/tokenizer.json`, `/models/${name}/tokenizer_config.json`],
  async open([tokenizerJson, config], _, [{ Tokenizer }]) {
    const tokenizer = new Tokenizer(json(tokenizerJson), json(config));
    return {
      encode: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids,
      decode: (ids) => tokenizer.decode(ids),
    };
  },
});

const llamaTokenizerJs = {
  modules: ["/peers/llama-tokenizer-js/llama-tokenizer.js"],
  async open(_assets, _, [{ default: tokenizer }]) {
    return {
      encode: (text) => tokenizer.encode(text, false, true),
      decode: (ids) => tokenizer.decode(ids, false, true),
    };
  },
};

const llama3TokenizerJs = {
  modules: ["/peers/llama3-tokenizer-js/bundle/llama3-tokenizer-with-baked-data.js"],
  async open(_assets, _, [{ default: tokenizer }]) {
    return {
      encode: (text) => tokenizer.encode(text, { bos: false, eos: false }),
      decode: (ids) => tokenizer.decode(ids),
    };
  },
};

const gptTokenizer = {
  modules: ["/peers/gpt-tokenizer/esm/encoding/r50k_base.js"],
  async open(_assets, _, [{ encode, decode, countTokens }]) {
    const options = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
    return {
      encode: (text) => encode(text, options),
      count: (text) => countTokens(text, options),
      decode,
    };
  },
};

/** Vocabulary -> peer -> how to open it. */
export const PEERS = {
  "llama-bpe": {
    pytok: pytok("llama-bpe"),
    kitoken: kitoken("llama-bpe"),
    "tokenizers.js": tokenizersJs("llama-bpe"),
    "llama3-tokenizer-js": llama3TokenizerJs,
  },
  "llama-spm": {
    pytok: pytok("llama-spm"),
    kitoken: kitoken("llama-spm"),
    "llama-tokenizer-js": llamaTokenizerJs,
  },
  "gpt-2": {
    pytok: pytok("gpt-2"),
    "gpt-tokenizer": gptTokenizer,
  },
  "gemma-4": { pytok: pytok("gemma-4") },
};
