/** Types that the modules of lib/ share. */

/** What a load or a start is doing now, for a progress line. */
export interface Step {
  phase:
    | "starting Python"
    | "installing pytok"
    | "ready"
    | "reading"
    | "building the vocabulary"
    | "encoding";
  /**
   * Bytes read so far, and the file's size, if the phase is "reading" and they are known;
   * characters encoded so far, and the text's, if it is "encoding" and that takes long.
   */
  loaded?: number;
  total?: number | null;
}

export interface Call {
  type: "call";
  id: number;
  method: string;
  params: object;
}

export interface Failure {
  type: "failure";
  id: number;
  error: {
    name?: string;
    message?: string;
    offset?: number | null;
    key?: string | null;
  };
}

export interface Progress {
  type: "progress";
  id: number | null;
  step: Step;
}

/** What cache.js knows of a vocabulary that it keeps. */
export interface Saved {
  /** SHA-256 of the file's header, in hexadecimal. */
  digest: string;
  /** The same of its first bytes, by which it is looked up. */
  start: string;
  headerSize: number;
  fileSize: number | null;
  /** Of what wrote it; only the same reads it. */
  version: string;
  /** An Info. */
  info: object;
  /** Bytes that the vocabulary takes here. */
  size: number;
  /** When it was used last, in ms. */
  used: number;
}

export type WorkerMessage =
  | { type: "alive"; lock: string }
  | { type: "heard"; id: number }
  | { type: "result"; id: number; value: unknown }
  | Failure
  | Progress
  | { type: "wish"; id: number; offset: number; size: number };

export type PageMessage =
  | Call
  | { type: "bytes"; id: number; data: Uint8Array | null }
  | { type: "cancel"; id: number };

/** The part of a worker's global scope that worker.js uses. */
export interface WorkerScope {
  postMessage(message: WorkerMessage): void;
  onmessage: ((event: MessageEvent<PageMessage>) => void) | null;
}

/** A file that the worker reads itself, or one that the page reads for it. */
export type WorkerSource = { blob: Blob } | { size: number | null };

/** Told how many bytes of a file have come so far, and its size if known. */
export type OnBytes = (loaded: number, total: number | null) => void;

/** Reads bytes from `offset` on: up to `size`, none at the file's end. */
export interface RangeReader {
  size: number | null;
  read(offset: number, size: number, onBytes?: OnBytes): Promise<Uint8Array>;
  close(): void;
}

/** A string is a name on the hub (`owner/repo`, `owner/repo:quant`), or else a URL. */
export type Source = Blob | ArrayBuffer | ArrayBufferView | URL | string;

export interface LoadOptions {
  signal?: AbortSignal;
  onProgress?: (step: Step) => void;
  /** The worker to load into; one shared by all by default. */
  engine?: import("./engine.js").Engine;
  /** Where the hub is, if not at its usual address. */
  hub?: string;
}

export interface CallOptions {
  /** Ends the wait at once; a worker that is busy with it for long is replaced. */
  signal?: AbortSignal;
}

export interface EncodeOptions extends CallOptions {
  /** Told of how far a long text is encoded. */
  onProgress?: (step: Step) => void;
  /** Add what the model wants around a text, such as BOS; default true. */
  addSpecial?: boolean;
  /** Let the texts of control tokens stand for these tokens; default false. */
  parseSpecial?: boolean;
}

/** What a model's file says of itself and its vocabulary. */
export interface Info {
  /** general.name, "" if absent. */
  name: string;
  architecture: string;
  kind: string;
  /** tokenizer.ggml.model and .pre, "" if absent. */
  model: string;
  pre: string;
  vocabSize: number;
  bosId: number | null;
  eosId: number | null;
  eogIds: number[];
  ggufVersion: number;
  tensorCount: number;
  /** Bytes of the header that were read, and the file's size if known. */
  bytesRead: number;
  fileSize: number | null;
  /** What is odd about the file, one line each. */
  warnings: string[];
  /** The version of pytok that answers. */
  engineVersion: string;
}

/** Tokens as bytes: those of token i are bytes[ends[i - 1] .. ends[i]]. */
export interface Pieces {
  bytes: Uint8Array;
  ends: Int32Array;
  /** Attribute bits of each token, as in llama.h's llama_token_attr. */
  attrs: Int32Array;
}
