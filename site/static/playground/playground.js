// The page on which one tries models. Nothing leaves the machine: models run in a worker of the page, and a link has its
// model in the part behind #, which browsers do not send.
/* global chart */
"use strict"

;(() => {
  const page = document.getElementById("playground")
  if (!page) return
  const here = new URL("_static/playground/", document.baseURI)
  const root = new URL(".", document.baseURI)
  const el = (name) => page.querySelector(`[data-part="${name}"]`)
  const editor = el("editor"), shade = el("shade"), status = el("status")
  const made = (tag, properties = {}, ...children) => {
    const e = Object.assign(document.createElement(tag), properties)
    e.append(...children)
    return e
  }

  // Links: what a fragment says is base64 of compressed JSON, { text, files, at }.
  const bytesOf = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer())
  async function pack(value) {
    const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"))
    let text = ""
    for (const b of await bytesOf(stream)) text += String.fromCharCode(b)
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")
  }
  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0))
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))
    return JSON.parse(new TextDecoder().decode(await bytesOf(stream)))
  }

  // What one works at.
  let files = {} // by their names in the model
  let model = null // as the worker described it
  let moved = new Map() // values that differ from those of the text
  let experiment = ""
  let result = null
  let across = "" // what the level axis shows; "" is time
  let chosen = 0 // of the objectives
  let logy = false

  // The worker does one thing at a time. What was asked while it was busy is done next, the last of each kind.
  let worker = null, module = null, busy = null, number = 0, ready = false
  const waiting = new Map() // kind of request → { request, then }
  let slow = 0

  function begin() {
    ready = false
    busy = null
    worker = new Worker(new URL("worker.js", here))
    worker.onmessage = ({ data }) => {
      if (data.module) { module = data.module; return }
      if (data.ready) { ready = true; page.dataset.ready = "yes"; next(); return }
      if (data.broken) { broken(data.broken); return }
      if (!busy || data.id !== busy.id) return
      const { then } = busy
      busy = null
      clearTimeout(slow)
      el("stop").hidden = true
      then(data.answer, data.ms)
      next()
    }
    worker.onerror = (e) => broken(e.message)
    worker.postMessage({ start: true, module })
  }
  function broken(text) {
    say(`The worker ended: ${text}`)
    worker.terminate()
    waiting.clear()
    begin()
  }
  function ask(kind, request, then) {
    waiting.set(kind, { request, then })
    next()
  }
  function next() {
    if (!ready || busy || waiting.size === 0) return
    const kind = ["open", "run", "compare"].find((k) => waiting.has(k))
    const { request, then } = waiting.get(kind)
    waiting.delete(kind)
    busy = { id: ++number, then, kind }
    page.dataset.busy = kind
    worker.postMessage({ id: number, request })
    slow = setTimeout(() => { el("stop").hidden = false; say("Computing …") }, 1000)
  }
  function stop() {
    worker.terminate()
    clearTimeout(slow)
    waiting.clear()
    el("stop").hidden = true
    say("Stopped. Change something to go on.")
    begin()
  }
  const say = (text) => { status.textContent = text }

  const request = (op, more) => ({ op, text: editor.value, files, experiment, ...more })
  const sets = () => model.params.filter((p) => moved.has(p.name)).map((p) => ({ name: p.name, value: moved.get(p.name) }))

  // open compiles the text, run computes, compare does so with an independent run once nothing moves any more.
  let typed = 0, still = 0
  function open(soon) {
    page.dataset.state = "asked"
    clearTimeout(typed)
    typed = setTimeout(async () => {
      if (await fetched()) { /* files of the model are here */ }
      const asked = editor.value
      ask("open", request("open"), (answer) => {
        if (asked !== editor.value) return
        if (answer.failed && experiment) { // of another model
          experiment = ""
          open(true)
          return
        }
        findings(answer.diagnostics)
        if (answer.failed) {
          page.dataset.state = "wrong"
          const n = answer.diagnostics.filter((d) => d.level === "error").length
          say(n > 1 ? `${n} errors in the model.` : "An error in the model.")
          return
        }
        // A value that was moved stays, unless the text gives another one to start from.
        const before = model && new Map(model.params.map((p) => [p.name, p.value]))
        model = answer
        for (const p of model.params) if (before && moved.has(p.name) && before.get(p.name) !== p.value) moved.delete(p.name)
        for (const name of moved.keys()) if (!model.params.some((p) => p.name === name)) moved.delete(name)
        sliders()
        experiments()
        run()
      })
    }, soon ? 0 : 300)
  }
  function run() {
    clearTimeout(still)
    if (!model) return
    page.dataset.state = "asked"
    ask("run", request("run", { set: sets() }), (answer, ms) => {
      take(answer, ms)
      if (!answer.failed && answer.objectives.length > 0 && ms < 2500) {
        clearTimeout(still)
        still = setTimeout(compare, 400)
      }
    })
  }
  function compare() {
    ask("compare", request("run", { set: sets(), compare: true }), (answer, ms) => {
      if (!waiting.has("run") && !waiting.has("open")) take(answer, ms)
    })
  }
  function take(answer, ms) {
    if (!model) return
    findings([...model.diagnostics, ...answer.diagnostics])
    if (answer.failed) {
      page.dataset.state = "wrong"
      say("The run failed.")
      return
    }
    result = answer
    pictures()
    objectives()
    page.dataset.state = answer.compared ? "compared" : "shown"
    page.dataset.runs = String(+(page.dataset.runs || 0) + 1)
    const how = answer.compared ? "compared with an independent run" : "not yet compared with another run"
    say(`${answer.method}, ${answer.steps} steps, ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms, ${how}.`)
  }

  // Files that a model names and that are not here are fetched from the folder of the site that the model is from.
  let folder = ""
  async function fetched() {
    if (!folder) return false
    const missing = new Set()
    for (const m of editor.value.matchAll(/\b(?:csv|load|npy|mtx|import\s+[^"\n]*from)\s*\(?\s*"([^"\n]+)"/g)) {
      if (!(m[1] in files) && !m[1].startsWith("std/") && !m[1].includes("..")) missing.add(m[1])
    }
    for (const name of missing) {
      try {
        const response = await fetch(new URL(folder + name, root))
        if (response.ok) files[name] = await response.text()
      } catch { /* the model's message names the file */ }
    }
    if (missing.size) fileList()
    return missing.size > 0
  }

  // What is wrong, with places to go to and edits to make.
  function findings(list) {
    const marks = []
    el("findings").replaceChildren(...list.map((d) => {
      const item = made("li", { className: `finding finding-${d.level}` })
      const words = `${d.level}${d.line ? `, line ${d.line}` : ""}: ${d.message}`
      if (d.from >= 0) {
        if (d.level !== "note") marks.push(d)
        item.append(made("button", {
          type: "button", className: "plain", textContent: words,
          onclick: () => { editor.focus(); editor.setSelectionRange(d.from, Math.max(d.to, d.from + 1)) },
        }))
      } else {
        item.append(made("span", { textContent: words }))
      }
      for (const f of d.fixes) {
        item.append(made("button", {
          type: "button", textContent: f.message || `write ${f.text}`, className: "fix",
          onclick: () => {
            editor.setRangeText(f.text, f.from, f.to, "end")
            paint()
            open(true)
          },
        }))
      }
      return item
    }))
    editor.setAttribute("aria-invalid", String(list.some((d) => d.level === "error")))
    paint(marks)
  }

  // Sliders.
  function reach(p) {
    let { lo, hi } = p
    const v = p.value === null ? 1 : p.value
    if (lo === null) lo = v > 0 ? (hi === null || hi > v ? v / 5 : Math.min(v, hi) / 5) : v < 0 ? 5 * v : -1
    if (hi === null) hi = v > 0 ? 5 * v : v < 0 ? v / 5 : 1
    if (v < lo) lo = v
    if (v > hi) hi = v
    if (lo === hi) hi = lo + 1
    return { lo, hi, log: lo > 0 && hi / lo >= 20 }
  }
  function sliders() {
    const most = 40
    const shown = model.params.slice(0, most)
    el("sliders").replaceChildren(...shown.map((p, i) => {
      const { lo, hi, log } = reach(p)
      const to = (v) => log ? Math.log(v / lo) / Math.log(hi / lo) * 1000 : (v - lo) / (hi - lo) * 1000
      const from = (s) => +(log ? lo * (hi / lo) ** (s / 1000) : lo + (hi - lo) * s / 1000).toPrecision(4)
      const now = moved.has(p.name) ? moved.get(p.name) : p.value
      const name = `param-${i}`
      const range = made("input", { type: "range", id: name, min: 0, max: 1000, step: "any", value: to(now) })
      range.dataset.param = p.name
      const exact = made("input", { type: "text", inputMode: "decimal", value: chart.text(now, 6), size: 8 })
      exact.setAttribute("aria-label", `value of ${p.name}`)
      const unit = p.unit && p.unit !== "1" ? ` ${p.unit}` : ""
      const tell = (v) => range.setAttribute("aria-valuetext", chart.text(v, 4) + unit)
      const put = (v) => {
        if (v === p.value) moved.delete(p.name)
        else moved.set(p.name, v)
        tell(v)
        commandLine()
        run()
      }
      range.step = 1
      range.addEventListener("input", () => {
        const v = from(+range.value)
        exact.value = chart.text(v, 6)
        put(v)
      })
      exact.addEventListener("change", () => {
        const v = Number(exact.value.trim())
        const wrong = exact.value.trim() === "" || !Number.isFinite(v)
        exact.setAttribute("aria-invalid", String(wrong))
        if (wrong) return
        range.value = Math.max(0, Math.min(1000, to(v)))
        put(v)
      })
      tell(now)
      const label = made("label", { htmlFor: name, textContent: p.name, title: p.doc })
      if (unit) label.append(made("span", { className: "unit", textContent: unit }))
      return made("div", { className: "slider" }, label, exact, range)
    }))
    const left = model.params.length - shown.length + model.moreParams
    el("sliders-note").textContent = model.params.length === 0 ? "The model has no params." :
      left > 0 ? `${left} more values have no slider.` : ""
    commandLine()
  }
  function commandLine() {
    el("command").textContent = `odes sens model.ode${sets().map((s) => ` --set '${s.name}=${s.value}'`).join("")}`
  }
  function experiments() {
    const box = el("experiment")
    const names = model.experiments.length || experiment ? model.experiments : []
    if (names.length && !experiment) box.replaceChildren(new Option("without any", ""), ...names.map((n) => new Option(n, n)))
    box.value = experiment
    box.closest("label").hidden = box.options.length === 0 || (names.length === 0 && !experiment)
  }

  // Pictures: a panel for each unit over time, or one with another output along the level axis.
  const panels = new Map()
  function pictures() {
    const box = el("pictures")
    const choice = el("across")
    const names = ["", ...result.series.map((s) => s.name)]
    if (!names.includes(across)) across = ""
    if ([...choice.options].map((o) => o.value).join() !== names.join()) {
      choice.replaceChildren(...names.map((n) => new Option(n || model.time, n)))
      choice.value = across
    }
    const axis = (name, unit) => unit && unit !== "1" ? `${name} [${unit}]` : name
    const groups = new Map()
    for (const s of result.series) {
      if (s.name === across) continue
      const key = s.unit || "1"
      if (!groups.has(key)) groups.set(key, [])
      groups.get(key).push(s)
    }
    const level = across && result.series.find((s) => s.name === across)
    for (const [key, panel] of panels) {
      if (!groups.has(key)) { panel.element.remove(); panels.delete(key) }
    }
    for (const [unit, list] of groups) {
      const series = list.map((s, i) => ({ name: s.name, doc: s.doc, x: level ? level.values : result.t, y: s.values, colour: i }))
      if (!level) {
        for (const o of model.observations) {
          const at = list.findIndex((s) => o.outputs.includes(s.name))
          if (at >= 0) series.push({ name: `${o.name} (data)`, x: o.t, y: o.values, points: true, colour: at })
        }
      }
      const data = {
        title: level ? `Against ${across}` : `Over ${model.time}`,
        x: level ? axis(across, level.unit) : axis(model.time, model.timeUnit),
        y: axis(list.length > 1 ? "" : list[0].name, unit).trim(), series, logy,
        marks: level ? [] : result.events.map((e) => ({ x: e.t, label: `${e.label} at ${chart.text(e.t)}` })),
      }
      const panel = panels.get(unit)
      if (panel) {
        panel.show(data)
      } else {
        const element = made("div")
        box.append(element)
        panels.set(unit, { element, show: chart.draw(element, data) })
      }
    }
    const more = []
    if (result.moreSeries) more.push(`${result.moreSeries} more curves are not shown.`)
    if (result.events.length) more.push(`${result.events.length + result.moreEvents} events, marked by lines.`)
    el("pictures-note").textContent = more.join(" ")
  }

  // Values and the gradient of the chosen one.
  const grade = { sound: "", loose: "~", lost: "?" }
  function objectives() {
    const box = el("objectives")
    if (chosen >= result.objectives.length) chosen = 0
    box.replaceChildren(...result.objectives.map((o, i) => {
      const unit = o.unit && o.unit !== "1" ? ` ${o.unit}` : ""
      const relation = o.relation ? ` (${o.relation} 0)` : ""
      const card = made("button", { type: "button", className: "objective", title: o.doc },
        made("span", { textContent: o.name + relation }),
        made("b", { textContent: `${chart.text(o.value, 6)}${unit} ${grade[o.trust] ?? o.trust}` }))
      card.setAttribute("aria-pressed", String(i === chosen))
      card.onclick = () => { chosen = i; objectives() }
      return card
    }))
    const o = result.objectives[chosen]
    el("gradient").hidden = !o || result.columns.length === 0
    el("gradient-none").hidden = !el("gradient").hidden
    if (!o) return
    const shares = result.columns.map((c, i) => c.value === null || o.gradient[i] === null || !o.value ? null :
      c.value * o.gradient[i] / o.value)
    const most = Math.max(1e-300, ...shares.map((s) => Math.abs(s ?? 0)))
    el("of").textContent = o.name
    el("rows").replaceChildren(...result.columns.map((c, i) => {
      const mark = o.trusts.length ? grade[o.trusts[i]] ?? "" : ""
      const share = shares[i]
      const bar = made("span", { className: share < 0 ? "bar bar-down" : "bar" })
      bar.style.width = `${Math.abs(share ?? 0) / most * 60}px`
      return made("tr", {},
        made("th", { scope: "row", textContent: c.name }),
        made("td", { textContent: c.value === null ? "" : chart.text(c.value, 5) }),
        made("td", { textContent: `${chart.text(o.gradient[i], 6)} ${mark}` }),
        made("td", {}, made("span", { textContent: share === null ? "" : chart.text(share, 3) }), bar))
    }))
    el("gradient-note").textContent = result.moreColumns ? `${result.moreColumns} more columns are not shown.` : ""
  }

  // Colours of the text, by the grammar that editors use.
  let grammar = []
  const classes = [["comment", "c"], ["string", "s"], ["constant", "n"], ["storage", "k"], ["keyword", "k"],
    ["support", "f"], ["entity", "f"]]
  async function learn() {
    const known = await (await fetch(new URL("odes.tmLanguage.json", here))).json()
    for (const p of known.patterns) {
      try {
        const kinds = classes.find(([prefix]) => (p.name || p.captures?.["1"]?.name || "").startsWith(prefix))
        if (kinds) grammar.push([new RegExp(p.match || `${p.begin}(?:\\\\.|[^"\\\\\\n])*"?`, "uym"), kinds[1]])
      } catch { /* a pattern that this browser has not: its words stay plain */ }
    }
    paint()
  }
  let marked = []
  function paint(marks) {
    if (marks) marked = marks
    const text = editor.value
    const out = document.createDocumentFragment()
    let plain = ""
    const flush = () => { if (plain) { out.append(plain); plain = "" } }
    const word = /[\p{L}_][\p{L}\p{Nd}\p{M}_]*|\s+|./uy
    if (text.length < 50000) {
      for (let at = 0; at < text.length;) {
        let hit = null, kind = ""
        for (const [pattern, k] of grammar) {
          pattern.lastIndex = at
          const m = pattern.exec(text)
          if (m && m[0]) { hit = m[0]; kind = k; break }
        }
        if (!hit) {
          word.lastIndex = at
          hit = word.exec(text)?.[0] ?? text[at]
        }
        const wrong = marked.some((d) => d.from >= at && d.from < at + hit.length)
        if (kind || wrong) {
          flush()
          out.append(made("span", { className: `t-${kind}${wrong ? " t-wrong" : ""}`, textContent: hit }))
        } else {
          plain += hit
        }
        at += hit.length
      }
    } else {
      plain = text
    }
    flush()
    out.append("\n")
    shade.replaceChildren(out)
    scrolled()
  }
  function scrolled() {
    shade.scrollTop = editor.scrollTop
    shade.scrollLeft = editor.scrollLeft
  }
  editor.addEventListener("scroll", scrolled)
  editor.addEventListener("input", () => { marked = []; paint(); open() })

  // Files.
  function fileList() {
    el("files").replaceChildren(...Object.keys(files).map((name) => made("li", {}, name, made("button", {
      type: "button", textContent: "remove", onclick: () => { delete files[name]; fileList(); open(true) },
    }))))
    el("files").querySelectorAll("button").forEach((b, i) => b.setAttribute("aria-label", `remove ${Object.keys(files)[i]}`))
  }
  el("data").addEventListener("change", async (e) => {
    for (const f of e.target.files) {
      if (f.name.endsWith(".ode")) {
        put(await f.text(), {}, "")
        continue
      }
      files[f.name] = await f.text()
    }
    e.target.value = ""
    fileList()
    open(true)
  })

  // put shows a model.
  function put(text, its, at) {
    editor.value = text
    model = null
    files = its
    folder = at
    moved = new Map()
    experiment = ""
    el("experiment").replaceChildren()
    across = ""
    chosen = 0
    editor.scrollTop = 0
    fileList()
    paint()
    open(true)
  }
  async function fromLink() {
    const [kind, text] = [location.hash.slice(1, 3), location.hash.slice(3)]
    try {
      if (kind === "m=") {
        const value = await unpack(text)
        put(String(value.text), value.files || {}, String(value.at || ""))
        for (const [name, v] of Object.entries(value.set || {})) moved.set(name, v)
        return true
      }
      if (kind === "e=") {
        const file = decodeURIComponent(text)
        const address = new URL(file, root)
        if (!address.href.startsWith(root.href)) throw new Error("an address outside of this site")
        const response = await fetch(address)
        if (!response.ok) throw new Error(`${response.status} ${response.statusText}`)
        put(await response.text(), {}, file.slice(0, file.lastIndexOf("/") + 1))
        const known = [...el("examples").options].some((o) => o.value === file)
        el("examples").value = known ? file : ""
        return true
      }
    } catch (e) {
      say(`This link holds no model that can be read (${e.message}).`)
    }
    return false
  }
  window.addEventListener("hashchange", fromLink)
  el("examples").addEventListener("change", (e) => {
    if (e.target.value) location.hash = `e=${encodeURIComponent(e.target.value)}`
  })
  el("link").addEventListener("click", async () => {
    const value = { text: editor.value, files, set: Object.fromEntries(moved) }
    if (folder) value.at = folder
    history.replaceState(null, "", `#m=${await pack(value)}`)
    try {
      await navigator.clipboard.writeText(location.href)
      say("The link is copied. It holds the model itself.")
    } catch {
      say("The link stands in the address line. It holds the model itself.")
    }
  })
  el("save").addEventListener("click", () => {
    const link = made("a", { href: URL.createObjectURL(new Blob([editor.value])), download: "model.ode" })
    link.click()
    URL.revokeObjectURL(link.href)
  })
  el("reset").addEventListener("click", () => {
    moved = new Map()
    if (model) sliders()
    run()
  })
  el("stop").addEventListener("click", stop)
  el("across").addEventListener("change", (e) => { across = e.target.value; pictures() })
  el("logy").addEventListener("change", (e) => { logy = e.target.checked; pictures() })
  el("experiment").addEventListener("change", (e) => { experiment = e.target.value; open(true) })

  say("Loading language and solvers …")
  begin()
  learn().catch(() => { /* the text stays without colours */ })
  fromLink().then((shown) => { if (!shown) put(editor.value, {}, "") })
})()
