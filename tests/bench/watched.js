/** The library's worker, watched: it tells the size of its WebAssembly memories when asked. */

const memories = new Set();
const { instantiate, instantiateStreaming } = WebAssembly;
const watched = (plain) => async (...parameters) => {
  const made = await plain(...parameters);
  for (const value of Object.values((made.instance ?? made).exports)) {
    if (value instanceof WebAssembly.Memory) memories.add(value);
  }
  return made;
};
WebAssembly.instantiate = watched(instantiate);
WebAssembly.instantiateStreaming = watched(instantiateStreaming);
const PlainMemory = WebAssembly.Memory;
WebAssembly.Memory = new Proxy(PlainMemory, {
  construct(target, parameters) {
    const memory = new target(...parameters);
    memories.add(memory);
    return memory;
  },
});

const channel = new BroadcastChannel("wasm");
channel.onmessage = ({ data }) => {
  if (data !== "size") return;
  channel.postMessage([...memories].reduce((sum, { buffer }) => sum + buffer.byteLength, 0));
};

const early = [];
onmessage = (event) => early.push(event);
await import("/pytok/lib/worker.js");
early.forEach(onmessage);
