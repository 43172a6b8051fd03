/**
 * Names of models on the Hugging Face hub, as llama.cpp and Ollama take them: `owner/repo`,
 * `owner/repo:quant`. They are resolved through the hub's public listing of a repository.
 *
 * Source: llama.cpp common/download.cpp, find_best_model; common/hf-cache.cpp, get_repo_files
 */

export const HUB = "https://huggingface.co";

const NAME = /^(?:hf:\/\/|(?:https?:\/\/)?(?:huggingface\.co|hf\.co)\/)?([\w.-]{1,96})\/([\w.-]{1,96})(?::([\w.-]{1,64}))?$/;
// The address of a file's page, which shows it, and of the file itself.
const FILE_PAGE = /^(https?:\/\/(?:huggingface\.co|hf\.co)\/[^/]+\/[^/]+)\/blob\/(.*)$/;
// What llama.cpp takes if nobody says which.
const DEFAULT_QUANTS = ["Q4_K_M", "Q8_0"];
// Beside a model: projectors, importance matrices, draft models.
const NO_MODEL = /mmproj|imatrix|mtp-|eagle3-|dflash-|dspark-/;
const LATER_PART = /-(?!00001)\d{5}-of-\d{5}\.gguf$/i;
// A listing comes in pages of a thousand files; no repository of models has so many.
const MAX_PAGES = 20;

/** @typedef {{ repo: string, quant: string }} HubName */

/**
 * @param {string} text
 * @returns {HubName | null} null if it is no name on the hub: a path with an ending .gguf is a URL
 */
export function parseHubName(text) {
  const found = NAME.exec(text);
  if (!found || /^\.+$/.test(found[1]) || /\.gguf$/i.test(text)) return null;
  return { repo: `${found[1]}/${found[2]}`, quant: found[3] ?? "" };
}

/** @param {string} text @returns {string} the same, or the file for its page on the hub */
export const fileOfPage = (text) => text.replace(FILE_PAGE, "$1/resolve/$2");

/**
 * @param {HubName} name
 * @param {{ hub?: string, signal?: AbortSignal }} [options] `hub` is where the hub is
 * @returns {Promise<URL>} of the file that llama.cpp would take; its first part, if it has several
 * @throws {DOMException} NetworkError if the hub cannot be asked; NotFoundError if it has none
 */
export async function resolveHubName({ repo, quant }, { hub = HUB, signal } = {}) {
  const paths = (await list(`${hub}/api/models/${repo}/tree/main?recursive=true`, repo, signal))
    .filter((path) => path.endsWith(".gguf"));
  const models = paths.filter(
    (path) => !NO_MODEL.test(path.slice(path.lastIndexOf("/") + 1)) && !LATER_PART.test(path),
  );
  const wanted = (quant ? [quant] : DEFAULT_QUANTS).map(
    (name) => new RegExp(`${name.replaceAll(".", "\\.")}[.-]`, "i"),
  );
  const found =
    wanted.map((pattern) => models.find((path) => pattern.test(path))).find(Boolean) ??
    (quant ? undefined : models[0]);
  if (found === undefined) {
    throw new DOMException(`${repo} on the hub has no ${quant ? `GGUF file ${quant}` : "GGUF file"}${
      quant && models.length ? `; it has ${shortened(models)}` : ""}`, "NotFoundError");
  }
  return new URL(`${hub}/${repo}/resolve/main/${found.split("/").map(encodeURIComponent).join("/")}`);
}

/** @param {string[]} paths */
function shortened(paths) {
  const more = paths.length > 12 ? ` and ${paths.length - 12} more` : "";
  return paths.slice(0, 12).join(", ").slice(0, 600) + more;
}

/**
 * @param {string} address
 * @param {string} repo
 * @param {AbortSignal} [signal]
 * @returns {Promise<string[]>} the paths of all files
 */
async function list(address, repo, signal) {
  const paths = [];
  /** @type {string | undefined} */
  let next = address;
  for (let page = 0; next && page < MAX_PAGES; page++) {
    const response = await ask(next, signal);
    if (!response.ok) throw new DOMException(refusal(response.status, repo), "NetworkError");
    const rows = await response.json().catch(() => null);
    if (!Array.isArray(rows)) {
      throw new DOMException(`the hub's listing of ${repo} cannot be understood`, "NetworkError");
    }
    for (const row of rows) {
      if (row?.type === "file" && typeof row.path === "string") paths.push(row.path);
    }
    const link = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("Link") ?? "");
    next = link ? new URL(link[1], next).href : undefined;
  }
  return paths;
}

/** @param {string} address @param {AbortSignal} [signal] */
async function ask(address, signal) {
  try {
    return await fetch(address, { signal, referrerPolicy: "no-referrer" });
  } catch {
    signal?.throwIfAborted();
    throw new DOMException(`the hub at ${new URL(address).host} cannot be reached`, "NetworkError");
  }
}

/** @param {number} status @param {string} repo */
function refusal(status, repo) {
  // The hub answers 401 for what is not there, so as not to tell of private repositories.
  if (status === 401 || status === 404) return `there is no public repository ${repo} on the hub`;
  if (status === 403) return `${repo} on the hub is gated: log in there and download the file`;
  return `the hub answered ${status} for ${repo}`;
}
