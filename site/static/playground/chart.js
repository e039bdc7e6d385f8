// Pictures of curves and points that one can point at, zoom and read: SVG, without anything else. The playground and
// reports share this file. Colours are those of classes, so pictures are light or dark as the page is.
"use strict"

const chart = (() => {
  const space = "http://www.w3.org/2000/svg"
  const make = (name, attributes = {}, ...children) => {
    const e = document.createElementNS(space, name)
    for (const key in attributes) e.setAttribute(key, attributes[key])
    e.append(...children)
    return e
  }

  // text writes a number with some digits, without zeros that say nothing.
  function text(x, digits = 5) {
    if (x === null || x === undefined || Number.isNaN(x)) return "none"
    if (x === 0) return "0"
    const size = Math.abs(x)
    if (size >= 1e6 || size < 1e-3) return x.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e")
    return String(+x.toPrecision(digits))
  }

  // ticks returns round numbers in a range, some five of them.
  function ticks(lo, hi, log, most) {
    const out = []
    if (log) {
      const from = Math.ceil(Math.log10(lo) - 1e-9), to = Math.floor(Math.log10(hi) + 1e-9)
      const every = Math.max(1, Math.ceil((to - from + 1) / most))
      for (let e = from; e <= to; e += every) out.push(10 ** e)
      if (out.length > 1) return out
      out.length = 0
    }
    const rough = (hi - lo) / most
    const ten = 10 ** Math.floor(Math.log10(rough))
    const step = ten * [1, 2, 5, 10].find((s) => s * ten >= rough)
    for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; i++) out.push(i * step)
    return out.map((x) => +x.toPrecision(12))
  }

  // extent returns the range of finite numbers, with some room.
  function extent(lists, log) {
    let lo = Infinity, hi = -Infinity
    for (const list of lists) for (const x of list) {
      if (x === null || !Number.isFinite(x) || (log && x <= 0)) continue
      if (x < lo) lo = x
      if (x > hi) hi = x
    }
    if (lo > hi) return log ? [1, 10] : [0, 1]
    if (log) return lo === hi ? [lo / 2, hi * 2] : [lo, hi]
    if (lo === hi) {
      const room = Math.abs(lo) / 10 || 1
      return [lo - room, hi + room]
    }
    return [lo, hi]
  }

  // draw makes a picture in an element, and returns what shows other data in it: { title, x, y, series, marks, logx,
  // logy }, where x and y name the axes, and a series has name, x, y, and points where it is data; kept zooms stay.
  function draw(element, data) {
    element.classList.add("chart")
    const svg = make("svg", { tabindex: "0", role: "img" })
    const legend = document.createElement("div")
    legend.className = "chart-legend"
    const told = document.createElement("div")
    told.className = "chart-told"
    told.setAttribute("aria-live", "polite")
    element.replaceChildren(legend, svg, told)
    const hidden = new Set()
    let zoom = null // [from, to] of the level axis
    let cursor = null // a place on the level axis
    let drag = null
    let shown // how places become numbers, as last drawn

    function scale(range, from, to, log) {
      const f = log ? Math.log : (x) => x
      const a = f(range[0]), b = f(range[1])
      return {
        at: (x) => from + (f(x) - a) / (b - a) * (to - from),
        value: (p) => { const v = a + (p - from) / (to - from) * (b - a); return log ? Math.exp(v) : v },
      }
    }

    function redraw() {
      const width = Math.max(240, element.clientWidth), height = data.height || Math.max(200, Math.min(320, width * 0.6))
      const left = 62, right = 14, top = 10, bottom = 44
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`)
      svg.setAttribute("width", width)
      svg.setAttribute("height", height)
      const seen = data.series.filter((s) => !hidden.has(s.name))
      const xr = zoom || extent(data.series.map((s) => s.x), data.logx)
      const inside = seen.map((s) => zoom ? s.y.filter((_, i) => s.x[i] >= xr[0] && s.x[i] <= xr[1]) : s.y)
      let yr = extent(inside, data.logy)
      if (!data.logy) {
        const room = (yr[1] - yr[0]) * 0.04
        yr = [yr[0] - (yr[0] === 0 ? 0 : room), yr[1] + room]
      }
      const X = scale(xr, left, width - right, data.logx), Y = scale(yr, height - bottom, top, data.logy)
      shown = { X, Y, left, right: width - right, top, bottom: height - bottom, xr }
      const parts = []
      const names = data.series.map((s) => s.name)
      const grid = make("g", { class: "chart-grid" })
      for (const t of ticks(xr[0], xr[1], data.logx, Math.max(2, Math.floor(width / 90)))) {
        const x = X.at(t)
        grid.append(make("line", { x1: x, x2: x, y1: top, y2: height - bottom }))
        grid.append(make("text", { x, y: height - bottom + 16, "text-anchor": "middle" }, text(t, 4)))
      }
      for (const t of ticks(yr[0], yr[1], data.logy, 5)) {
        const y = Y.at(t)
        grid.append(make("line", { x1: left, x2: width - right, y1: y, y2: y }))
        grid.append(make("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, text(t, 4)))
      }
      grid.append(make("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, data.x || ""))
      grid.append(make("text", {
        transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle",
      }, data.y || ""))
      parts.push(grid)
      const clip = `clip${draw.count = (draw.count || 0) + 1}`
      parts.push(make("clipPath", { id: clip }, make("rect", {
        x: left - 4, y: top - 4, width: width - right - left + 8, height: height - bottom - top + 8,
      })))
      const body = make("g", { "clip-path": `url(#${clip})` })
      for (const m of data.marks || []) {
        const x = X.at(m.x)
        if (x >= left && x <= width - right) {
          body.append(make("line", { class: "chart-mark", x1: x, x2: x, y1: top, y2: height - bottom },
            make("title", {}, m.label)))
        }
      }
      for (const s of seen) {
        const of = `chart-c${(s.colour ?? names.indexOf(s.name)) % 8}`
        if (s.points) {
          s.x.forEach((x, i) => {
            if (s.y[i] !== null && (!data.logy || s.y[i] > 0)) {
              body.append(make("circle", { class: `chart-point ${of}`, cx: X.at(x), cy: Y.at(s.y[i]), r: 4 }))
            }
          })
          continue
        }
        let path = "", pen = "M"
        for (let i = 0; i < s.x.length; i++) {
          const x = s.x[i], y = s.y[i]
          if (x === null || y === null || (data.logx && x <= 0) || (data.logy && y <= 0)) { pen = "M"; continue }
          path += `${pen}${X.at(x).toFixed(2)} ${Math.max(-1e5, Math.min(1e5, Y.at(y))).toFixed(2)}`
          pen = "L"
        }
        body.append(make("path", { class: `chart-line ${of}`, d: path }))
      }
      parts.push(body)
      const over = make("g", { class: "chart-cursor" })
      parts.push(over)
      svg.replaceChildren(...parts)
      shown.over = over
      svg.setAttribute("aria-label", `${data.title}: ${seen.map((s) => {
        const e = extent([s.y])
        return `${s.name} from ${text(e[0], 3)} to ${text(e[1], 3)}`
      }).join(", ")}. Arrow keys read values, plus and minus zoom, Escape shows all.`)
      point()
    }

    // nearest returns the index of the point of a series that is next to x.
    function nearest(s, x) {
      let best = -1, least = Infinity
      for (let i = 0; i < s.x.length; i++) {
        if (s.x[i] === null || s.y[i] === null) continue
        const d = Math.abs(s.x[i] - x)
        if (d < least) { least = d; best = i }
      }
      return best
    }

    // point shows the values at the cursor.
    function point() {
      if (!shown) return
      shown.over.replaceChildren()
      if (cursor === null) { told.textContent = data.hint || ""; return }
      const x = shown.X.at(cursor)
      if (drag !== null) {
        const from = Math.min(x, shown.X.at(drag)), to = Math.max(x, shown.X.at(drag))
        shown.over.append(make("rect", { x: from, y: shown.top, width: to - from, height: shown.bottom - shown.top }))
      }
      shown.over.append(make("line", { x1: x, x2: x, y1: shown.top, y2: shown.bottom }))
      const values = []
      const names = data.series.map((s) => s.name)
      for (const s of data.series) {
        if (hidden.has(s.name)) continue
        const i = nearest(s, cursor)
        if (i < 0) continue
        shown.over.append(make("circle", {
          class: `chart-point chart-c${(s.colour ?? names.indexOf(s.name)) % 8}`, cx: shown.X.at(s.x[i]),
          cy: shown.Y.at(s.y[i]), r: 4,
        }))
        values.push(`${s.name} ${text(s.y[i])}${s.points ? ` (at ${text(s.x[i])})` : ""}`)
      }
      told.textContent = `${data.x || "x"} ${text(cursor)}: ${values.join(", ")}`
    }

    function place(event) {
      const box = svg.getBoundingClientRect()
      const p = Math.max(shown.left, Math.min(shown.right, event.clientX - box.left))
      return shown.X.value(p)
    }
    svg.addEventListener("pointermove", (e) => { cursor = place(e); point() })
    svg.addEventListener("pointerleave", () => { if (drag === null) { cursor = null; point() } })
    svg.addEventListener("pointerdown", (e) => {
      if (e.pointerType === "touch") { cursor = place(e); point(); return }
      svg.setPointerCapture(e.pointerId)
      drag = place(e)
    })
    svg.addEventListener("pointerup", (e) => {
      if (drag === null) return
      const from = drag, to = place(e)
      drag = null
      if (Math.abs(shown.X.at(from) - shown.X.at(to)) > 8) zoom = [Math.min(from, to), Math.max(from, to)]
      redraw()
    })
    svg.addEventListener("dblclick", () => { zoom = null; redraw() })
    svg.addEventListener("blur", () => { cursor = null; point() })
    svg.addEventListener("keydown", (e) => {
      const { xr } = shown
      const step = (shown.right - shown.left) / 50
      const at = cursor === null ? (shown.left + shown.right) / 2 : shown.X.at(cursor)
      const around = (factor) => [shown.left, shown.right].map((p) => shown.X.value(at + (p - at) * factor))
      switch (e.key) {
        case "ArrowLeft": cursor = shown.X.value(Math.max(shown.left, at - step)); point(); break
        case "ArrowRight": cursor = shown.X.value(Math.min(shown.right, at + step)); point(); break
        case "Home": cursor = xr[0]; point(); break
        case "End": cursor = xr[1]; point(); break
        case "+": case "=": cursor = shown.X.value(at); zoom = around(0.5); redraw(); break
        case "-": cursor = shown.X.value(at); zoom = zoom && around(2); clampZoom(); redraw(); break
        case "Escape": if (!zoom && cursor === null) return; zoom = null; cursor = null; redraw(); break
        default: return
      }
      e.preventDefault()
    })
    // clampZoom ends a zoom that shows more than all.
    function clampZoom() {
      const all = extent(data.series.map((s) => s.x), data.logx)
      if (!zoom) return
      zoom = [Math.max(zoom[0], all[0]), Math.min(zoom[1], all[1])]
      if (zoom[0] <= all[0] && zoom[1] >= all[1]) zoom = null
    }

    function names() {
      legend.replaceChildren(...data.series.map((s, i) => {
        const b = document.createElement("button")
        b.type = "button"
        b.className = `chart-name chart-c${(s.colour ?? i) % 8}`
        b.setAttribute("aria-pressed", String(!hidden.has(s.name)))
        b.title = s.doc || ""
        const key = document.createElement("span")
        key.className = s.points ? "chart-key chart-key-point" : "chart-key"
        b.append(key, s.name)
        b.addEventListener("click", () => {
          if (!hidden.delete(s.name)) hidden.add(s.name)
          b.setAttribute("aria-pressed", String(!hidden.has(s.name)))
          redraw()
        })
        return b
      }))
    }

    let known = ""
    function show(other) {
      data = other
      const now = JSON.stringify(data.series.map((s) => [s.name, !!s.points]))
      if (now !== known) { known = now; names() }
      redraw()
    }
    let width = 0
    new ResizeObserver(() => {
      if (element.clientWidth !== width && element.clientWidth) { width = element.clientWidth; redraw() }
    }).observe(element)
    show(data)
    return show
  }
  return { draw, text, ticks, extent }
})()
