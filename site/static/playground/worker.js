// The worker in which language and solvers run, so that the page stays quick. It gets a compiled module from the page,
// or fetches one and hands it to the page, which starts another worker with it after Stop.
/* global Go, odesAnswer */
importScripts("wasm_exec.js")

// unpacked returns what is in a compressed file, also where the server's headers let the browser unpack it.
async function unpacked(response) {
  const reader = response.body.getReader()
  const first = await reader.read()
  const stream = new ReadableStream({
    start(to) { if (!first.done) to.enqueue(first.value) },
    async pull(to) {
      const { done, value } = await reader.read()
      if (done) to.close()
      else to.enqueue(value)
    },
  })
  const packed = first.value && first.value[0] === 0x1f && first.value[1] === 0x8b
  return new Response(packed ? stream.pipeThrough(new DecompressionStream("gzip")) : stream, {
    headers: { "Content-Type": "application/wasm" },
  })
}

async function start(module) {
  if (!module) {
    const response = await fetch("odes.wasm.gz")
    if (!response.ok) throw new Error(`odes.wasm.gz: ${response.status} ${response.statusText}`)
    module = await WebAssembly.compileStreaming(unpacked(response))
    postMessage({ module })
  }
  const go = new Go()
  const ready = new Promise((done) => { self.odesReady = done })
  const ended = go.run(await WebAssembly.instantiate(module, go.importObject))
  ended.then(() => postMessage({ broken: "the program has ended" }), (e) => postMessage({ broken: String(e) }))
  await ready
}

let started
onmessage = async ({ data }) => {
  try {
    if (data.start) {
      started = start(data.module)
      await started
      postMessage({ ready: true })
      return
    }
    await started
    const from = performance.now()
    const answer = JSON.parse(odesAnswer(JSON.stringify(data.request)))
    postMessage({ id: data.id, answer, ms: performance.now() - from })
  } catch (e) {
    postMessage({ broken: String(e) })
  }
}
