// Pictures that one can point at: values, zoom, and curves that one hides. It reads what package plot marked in each
// svg of class "live". Without it, pictures can be looked at.
"use strict"

;(() => {
  const space = "http://www.w3.org/2000/svg"
  const told = document.createElement("div")
  told.className = "live-told"
  told.setAttribute("role", "status")
  told.hidden = true
  document.body.append(told)
  let clips = 0

  // text writes a number as fine as a picture tells it: to a two-thousandth of its axis.
  function text(x, scale) {
    if (!Number.isFinite(x)) return "none"
    if (scale.log) return String(+x.toPrecision(3))
    const step = 10 ** Math.floor(Math.log10((scale.hi - scale.lo) / 2000))
    const round = Math.round(x / step) * step
    const digits = Math.max(0, Math.min(15, -Math.round(Math.log10(step))))
    const size = Math.abs(round)
    if (size >= 1e6 || (size > 0 && size < 1e-4)) return String(+round.toPrecision(4))
    return String(+round.toFixed(digits))
  }

  function scaleOf(words) {
    const [lo, hi, kind] = words.split(" ")
    const log = kind === "log"
    const f = log ? Math.log10 : (x) => x
    const a = f(+lo), b = f(+hi)
    return { lo: +lo, hi: +hi, log, value: (s) => { const v = a + s * (b - a); return log ? 10 ** v : v },
      share: (x) => (f(x) - a) / (b - a) }
  }

  // ticks returns round numbers in a range.
  function ticks(lo, hi, log, most) {
    const out = []
    if (log && hi / lo > 30) {
      const from = Math.ceil(Math.log10(lo) - 1e-9), to = Math.floor(Math.log10(hi) + 1e-9)
      for (let e = from; e <= to; e += Math.max(1, Math.ceil((to - from + 1) / most))) out.push(10 ** e)
      return out
    }
    const rough = (hi - lo) / most
    const ten = 10 ** Math.floor(Math.log10(rough))
    const step = ten * [1, 2, 5, 10].find((s) => s * ten >= rough * 0.999)
    for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; i++) out.push(+(i * step).toPrecision(12))
    return out
  }

  // lines returns the points of the pieces of a path.
  function lines(path) {
    const d = path.getAttribute("d")
    if (/[C]/.test(d)) return []
    return d.split("M").slice(1).map((piece) => piece.replace("Z", "").split("L").map((p) => p.split(" ").map(Number)))
  }

  function panelOf(svg, group) {
    const [left, top, width, height] = group.dataset.area.split(" ").map(Number)
    const p = { svg, group, left, top, width, height, view: null }
    const parts = (selector) => [...group.querySelectorAll(selector)]
    if (group.dataset.cells) {
      p.cells = JSON.parse(group.dataset.cells)
      return p
    }
    if (!group.dataset.x) return p
    p.x = scaleOf(group.dataset.x)
    p.y = scaleOf(group.dataset.y)
    p.curves = new Map()
    for (const g of parts("g.curve")) {
      p.curves.set(g.dataset.k, { g, name: g.dataset.name || "", loop: g.dataset.loop === "1",
        pieces: [...g.querySelectorAll("path")].flatMap(lines) })
    }
    p.points = parts("g.point").map((g) => {
      const box = g.getBBox()
      return { g, k: g.dataset.k, name: g.dataset.name || "", at: g.dataset.at.split(" ").map(Number),
        x: box.x + box.width / 2, y: box.y + box.height / 2 }
    })
    for (const q of p.points) { // with a bar of its error, the middle of the box may be another
      q.x = left + width * p.x.share(q.at[0])
      q.y = top + height * (1 - p.y.share(q.at[1]))
    }
    p.marks = parts("g.mark").map((g) => ({ name: g.dataset.name, at: g.dataset.at,
      x: lines(g.querySelector("path"))[0][0][0] }))
    p.moving = parts("g.curve, g.band, g.point, g.mark, g.arrows")
    p.home = { x0: left, x1: left + width, y0: top, y1: top + height }
    p.view = { ...p.home }
    return p
  }

  // show draws a panel as its view says: a part of the picture in its area.
  function show(p) {
    const { view, home } = p
    const sx = p.width / (view.x1 - view.x0), sy = p.height / (view.y1 - view.y0)
    const whole = sx < 1.0001 && sy < 1.0001
    if (!p.clip) {
      const clip = document.createElementNS(space, "clipPath")
      const r = document.createElementNS(space, "rect")
      clip.id = `live-clip-${++clips}`
      for (const [k, v] of [["x", p.left], ["y", p.top], ["width", p.width], ["height", p.height]]) r.setAttribute(k, v)
      clip.append(r)
      p.group.prepend(clip)
      p.clip = clip.id
      // One group holds what moves, so that the clip stays where it is.
      p.inner = document.createElementNS(space, "g")
      p.moving[0]?.before(p.inner)
      p.inner.append(...p.moving)
      p.ticks = [...p.group.querySelectorAll("g.ticks")].map((g) => ({ g, was: [...g.childNodes],
        line: g.querySelector("path"), lines: [...g.querySelectorAll("path")], word: g.querySelector("text") }))
    }
    if (whole) p.inner.removeAttribute("clip-path")
    else p.inner.setAttribute("clip-path", `url(#${p.clip})`)
    const screen = p.svg.getScreenCTM().a
    const place = (x, y) => [p.left + (x - view.x0) * sx, p.top + (y - view.y0) * sy]
    for (const g of p.moving) {
      if (whole) {
        g.removeAttribute("transform")
        for (const e of g.querySelectorAll("[vector-effect]")) {
          e.removeAttribute("vector-effect")
          e.style.removeProperty("stroke-width")
        }
      } else if (g.matches(".point")) {
        const q = p.points.find((q) => q.g === g)
        const [x, y] = place(q.x, q.y)
        g.setAttribute("transform", `translate(${x - q.x} ${y - q.y})`)
      } else {
        const [x, y] = place(0, 0)
        g.setAttribute("transform", `matrix(${sx} 0 0 ${sy} ${x} ${y})`)
        for (const e of g.querySelectorAll("path")) {
          const glyph = g.matches(".curve") && /C/.test(e.getAttribute("d"))
          if (glyph) continue
          e.setAttribute("vector-effect", "non-scaling-stroke") // its width is one of the screen
          e.style.strokeWidth = `${e.getAttribute("stroke-width") * screen}px`
        }
      }
    }
    for (const t of p.ticks) drawTicks(p, t, whole)
    p.svg.classList.toggle("zoomed", !whole)
  }

  // seen is the part of an axis that is shown.
  function seen(p) {
    const { view } = p
    return {
      x: [p.x.value((view.x0 - p.left) / p.width), p.x.value((view.x1 - p.left) / p.width)],
      y: [p.y.value(1 - (view.y1 - p.top) / p.height), p.y.value(1 - (view.y0 - p.top) / p.height)],
    }
  }

  function drawTicks(p, t, whole) {
    if (whole) {
      t.g.replaceChildren(...t.was)
      return
    }
    if (!t.word) return
    const level = t.g.matches(".x"), axis = level ? p.x : p.y
    const [lo, hi] = seen(p)[level ? "x" : "y"]
    const list = ticks(lo, hi, axis.log, level ? p.width / 60 : p.height / 32)
    const digits = list.length > 1 ? Math.max(0, -Math.floor(Math.log10(Math.abs(list[1] - list[0])) + 1e-9)) : 6
    t.g.replaceChildren()
    for (const v of list) {
      const word = t.word.cloneNode()
      word.removeAttribute("textLength")
      word.removeAttribute("transform")
      const big = Math.abs(v) >= 1e6 || (v !== 0 && Math.abs(v) < 1e-4)
      word.textContent = big ? v.toExponential().replace("e+", "e") : axis.log ? String(v) : v.toFixed(Math.min(digits, 12))
      const stroke = t.line.cloneNode()
      if (level) {
        const x = p.left + (axis.share(v) - axis.share(lo)) / (axis.share(hi) - axis.share(lo)) * p.width
        word.setAttribute("x", x)
        word.setAttribute("text-anchor", "middle")
        stroke.setAttribute("d", `M${x} ${p.top + p.height}L${x} ${p.top + p.height + 4}`)
      } else {
        const y = p.top + p.height - (axis.share(v) - axis.share(lo)) / (axis.share(hi) - axis.share(lo)) * p.height
        word.setAttribute("x", p.left - 6)
        word.setAttribute("y", y + 3)
        word.setAttribute("text-anchor", "end")
        stroke.setAttribute("d", `M${p.left} ${y}L${p.left + p.width} ${y}`)
      }
      t.g.append(stroke, word)
    }
  }

  const bounded = (x, lo, hi) => Math.max(lo, Math.min(hi, x))

  // zoom makes a view smaller or larger about a place, within the picture.
  function zoom(p, factor, x, y) {
    const { view, home } = p
    const side = (a0, a1, at, h0, h1) => {
      const wide = bounded((a1 - a0) * factor, (h1 - h0) / 1000, h1 - h0)
      const from = bounded(at - (at - a0) * wide / (a1 - a0), h0, h1 - wide)
      return [from, from + wide]
    }
    const xs = side(view.x0, view.x1, x, home.x0, home.x1), ys = side(view.y0, view.y1, y, home.y0, home.y1)
    p.view = { x0: xs[0], x1: xs[1], y0: ys[0], y1: ys[1] }
    show(p)
  }

  // unzoomed takes a place of the page back to the picture as it was drawn.
  const unzoomed = (p, at) => ({ x: p.view.x0 + (at.x - p.left) / p.width * (p.view.x1 - p.view.x0),
    y: p.view.y0 + (at.y - p.top) / p.height * (p.view.y1 - p.view.y0) })
  const zoomed = (p, at) => ({ x: p.left + (at.x - p.view.x0) / (p.view.x1 - p.view.x0) * p.width,
    y: p.top + (at.y - p.view.y0) / (p.view.y1 - p.view.y0) * p.height })

  // values says in words what lies at a place of a panel, and returns where a line through it stands.
  function values(p, at) {
    if (p.cells) {
      const c = p.cells, rows = c.values.length, cols = c.values[0].length
      const i = bounded(Math.floor((at.y - p.top) / p.height * rows), 0, rows - 1)
      const j = bounded(Math.floor((at.x - p.left) / p.width * cols), 0, cols - 1)
      let col = c.first + j
      if (c.from !== c.to) col = +(c.from + (c.to - c.from) * j / Math.max(1, cols - 1)).toPrecision(4)
      if (c.names?.length) col = c.names[j]
      return { words: `${c.row || ""} ${c.rows[i]}, ${c.col || ""} ${col}\n${c.values[i][j]} ${c.unit || ""}`.trim() }
    }
    if (!p.x) return null
    const here = p.view.x1 - p.view.x0 < p.width * 0.9999 ? unzoomed(p, at) : at
    const near = (q) => { const z = zoomed(p, q); return Math.hypot(z.x - at.x, z.y - at.y) }
    const off = (k) => p.off?.has(k)
    let best = null
    for (const q of p.points) if (!off(q.k) && near(q) < 7 && (!best || near(q) < near(best))) best = q
    const xname = p.group.dataset.xname || "x", yname = p.group.dataset.yname || "y"
    if (best) return { words: `${best.name}\n${xname} ${best.at[0]}\n${yname} ${best.at[1]}`.trim() }
    const list = []
    for (const [k, c] of p.curves) {
      if (off(k)) continue
      if (c.loop) {
        let least = null
        for (const piece of c.pieces) for (const q of piece) {
          const far = near({ x: q[0], y: q[1] })
          if (far < 12 && (!least || far < least[0])) least = [far, q]
        }
        if (least) {
          const [x, y] = least[1]
          list.push(`${c.name} ${text(p.x.value((x - p.left) / p.width), p.x)}, ` +
            text(p.y.value(1 - (y - p.top) / p.height), p.y))
        }
        continue
      }
      for (const piece of c.pieces) {
        const i = piece.findIndex((q, i) => i > 0 && piece[i - 1][0] <= here.x && here.x <= q[0])
        if (i < 0) continue
        const [a, b] = [piece[i - 1], piece[i]]
        const y = b[0] === a[0] ? b[1] : a[1] + (here.x - a[0]) / (b[0] - a[0]) * (b[1] - a[1])
        list.push(`${c.name || yname} ${text(p.y.value(1 - (y - p.top) / p.height), p.y)}`)
        break
      }
    }
    for (const m of p.marks) if (Math.abs(zoomed(p, { x: m.x, y: 0 }).x - at.x) < 4) list.push(`${m.name} at ${m.at}`)
    const flat = [...p.curves.values()].some((c) => !c.loop)
    const head = flat ? [`${xname} ${text(p.x.value((here.x - p.left) / p.width), p.x)}`] : []
    return { words: [...head, ...list.slice(0, 14)].join("\n"), line: flat }
  }

  function live(svg) {
    const panels = [...svg.querySelectorAll("g.panel")].map((g) => panelOf(svg, g))
    const canZoom = panels.some((p) => p.x)
    svg.setAttribute("role", "group")
    const line = document.createElementNS(space, "line")
    for (const [k, v] of [["stroke", "currentColor"], ["stroke-width", ".6"], ["opacity", ".6"]]) line.setAttribute(k, v)
    line.style.pointerEvents = "none"
    const box = document.createElementNS(space, "rect")
    for (const [k, v] of [["fill", "currentColor"], ["fill-opacity", ".12"], ["stroke", "currentColor"]]) box.setAttribute(k, v)
    box.style.pointerEvents = "none"

    const place = (e) => {
      const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse())
      return { x: at.x, y: at.y }
    }
    const within = (at) => panels.find((p) => at.x >= p.left - 2 && at.x <= p.left + p.width + 2 && at.y >= p.top - 2 &&
      at.y <= p.top + p.height + 2)
    const tell = (p, at, client) => {
      const what = p && values(p, at)
      told.hidden = !what || !what.words
      line.remove()
      if (told.hidden) return
      told.textContent = what.words
      const wide = told.offsetWidth
      told.style.left = `${bounded(client.x + 14, 0, innerWidth - wide - 4)}px`
      told.style.top = `${bounded(client.y + 14, 0, innerHeight - told.offsetHeight - 4)}px`
      if (what.line) {
        line.setAttribute("x1", at.x), line.setAttribute("x2", at.x)
        line.setAttribute("y1", p.top), line.setAttribute("y2", p.top + p.height)
        svg.append(line)
      }
    }
    const hide = () => { told.hidden = true; line.remove() }

    let drag = null
    svg.addEventListener("pointermove", (e) => {
      const at = place(e)
      if (!drag) {
        const bar = e.target.closest?.("g.bar")
        if (bar) {
          told.hidden = false
          told.textContent = `${bar.dataset.name} ${bar.dataset.value}`
          told.style.left = `${e.clientX + 14}px`
          told.style.top = `${e.clientY + 14}px`
          return
        }
        tell(within(at), at, { x: e.clientX, y: e.clientY })
        return
      }
      const { p, from } = drag
      drag.to = { x: bounded(at.x, p.left, p.left + p.width), y: bounded(at.y, p.top, p.top + p.height) }
      hide()
      for (const [k, v] of [["x", Math.min(from.x, drag.to.x)], ["y", Math.min(from.y, drag.to.y)],
        ["width", Math.abs(from.x - drag.to.x)], ["height", Math.abs(from.y - drag.to.y)]]) box.setAttribute(k, v)
      svg.append(box)
    })
    svg.addEventListener("pointerleave", (e) => { if (!drag && e.pointerType !== "touch") hide() })
    svg.addEventListener("pointerdown", (e) => {
      const at = place(e), p = within(at)
      if (e.pointerType === "touch" && !e.target.closest("g.key")) tell(p, at, { x: e.clientX, y: e.clientY })
      if (e.button !== 0 || e.pointerType === "touch" || !p?.x || e.target.closest("g.key")) return
      drag = { p, from: at, to: at }
      svg.setPointerCapture(e.pointerId)
    })
    svg.addEventListener("mousedown", (e) => { if (drag) e.preventDefault() }) // no text is selected
    svg.addEventListener("pointerup", () => {
      if (!drag) return
      const { p, from, to } = drag
      drag = null
      box.remove()
      if (Math.abs(from.x - to.x) < 5 || Math.abs(from.y - to.y) < 2) return
      let a = unzoomed(p, from), b = unzoomed(p, to)
      // A flat box is meant for the level axis alone.
      if (Math.abs(from.y - to.y) < p.height / 12) { a.y = p.view.y0; b.y = p.view.y1 }
      const least = p.width / 1000
      p.view = { x0: Math.min(a.x, b.x), x1: Math.max(a.x, b.x, Math.min(a.x, b.x) + least),
        y0: Math.min(a.y, b.y), y1: Math.max(a.y, b.y, Math.min(a.y, b.y) + least) }
      show(p)
    })
    svg.addEventListener("pointercancel", () => { drag = null; box.remove() })
    const reset = () => {
      for (const p of panels) if (p.x) { p.view = { ...p.home }; show(p) }
    }
    svg.addEventListener("dblclick", reset)
    svg.addEventListener("wheel", (e) => {
      const at = place(e), p = within(at)
      if (!e.ctrlKey || !p?.x) return // without the key, the page scrolls
      e.preventDefault()
      const here = unzoomed(p, at)
      zoom(p, e.deltaY < 0 ? 0.8 : 1.25, here.x, here.y)
    }, { passive: false })

    // By keyboard: arrows read values, + and - zoom, Escape shows all.
    if (panels.some((p) => p.x || p.cells)) svg.tabIndex = 0
    let cursor = null
    svg.addEventListener("keydown", (e) => {
      if (e.target !== svg) return
      if (e.key === "Escape") { reset(); hide(); cursor = null; return }
      if (!cursor) cursor = { p: panels[0], x: 0.5, y: 0.5 }
      const p = cursor.p
      const step = e.shiftKey ? 0.1 : 0.01
      if (e.key === "ArrowRight") cursor.x = Math.min(1, cursor.x + step)
      else if (e.key === "ArrowLeft") cursor.x = Math.max(0, cursor.x - step)
      else if (e.key === "ArrowUp" && p.cells) cursor.y = Math.max(0, cursor.y - step)
      else if (e.key === "ArrowDown" && p.cells) cursor.y = Math.min(0.999, cursor.y + step)
      else if (e.key === "PageDown") cursor.p = panels[Math.min(panels.length - 1, panels.indexOf(p) + 1)]
      else if (e.key === "PageUp") cursor.p = panels[Math.max(0, panels.indexOf(p) - 1)]
      else if ((e.key === "+" || e.key === "-") && canZoom && p.x) {
        const here = unzoomed(p, { x: p.left + cursor.x * p.width, y: p.top + p.height / 2 })
        zoom(p, e.key === "+" ? 0.8 : 1.25, here.x, here.y)
      } else return
      e.preventDefault()
      const q = cursor.p, at = { x: q.left + cursor.x * q.width, y: q.top + cursor.y * q.height }
      const client = new DOMPoint(at.x, at.y).matrixTransform(svg.getScreenCTM())
      tell(q, at, client)
    })
    svg.addEventListener("blur", hide)
    document.addEventListener("pointerdown", (e) => { if (!svg.contains(e.target)) hide() }, true)

    // What fingers touch stands below the picture, since its legend is too small for them: a button for each
    // name, which several panels may have.
    const named = new Map()
    const below = document.createElement("div")
    below.className = "live-keys"
    const touch = (words, does) => {
      const button = document.createElement("button")
      button.type = "button"
      button.textContent = words
      button.addEventListener("click", () => does(button))
      below.append(button)
      return button
    }

    for (const p of panels) {
      if (!p.curves) continue
      p.off = new Set()
      const keys = [...p.group.querySelectorAll("g.key[data-k]")]
      if (p.curves.size + p.group.querySelectorAll("g.band").length < 2) continue
      for (const key of keys) {
        const k = key.dataset.k
        key.setAttribute("role", "button")
        key.setAttribute("aria-pressed", "true")
        key.tabIndex = 0
        const flip = (off = !p.off.has(k)) => {
          p.off[off ? "add" : "delete"](k)
          key.classList.toggle("off", off)
          key.setAttribute("aria-pressed", String(!off))
          for (const g of p.moving) g.classList.toggle("off-curve", p.off.has(g.dataset.k) || p.off.has(g.dataset.of))
        }
        key.addEventListener("click", () => flip())
        const name = key.textContent.trim()
        named.set(name, [...named.get(name) ?? [], flip])
        key.addEventListener("keydown", (e) => {
          if (e.key === "Enter" || e.key === " ") { e.preventDefault(); flip() }
        })
      }
    }
    for (const [name, flips] of named) {
      touch(name, (button) => {
        const off = button.getAttribute("aria-pressed") === "true"
        button.setAttribute("aria-pressed", String(!off))
        for (const flip of flips) flip(off)
      }).setAttribute("aria-pressed", "true")
    }
    if (canZoom) {
      const middle = (factor) => {
        for (const p of panels) if (p.x) zoom(p, factor, (p.view.x0 + p.view.x1) / 2, (p.view.y0 + p.view.y1) / 2)
      }
      touch("+", () => middle(0.8)).setAttribute("aria-label", "Zoom in")
      touch("−", () => middle(1.25)).setAttribute("aria-label", "Zoom out")
      touch("All", () => { reset(); hide() }).setAttribute("aria-label", "Show all")
    }
    if (below.firstChild) svg.after(below)
  }
  document.querySelectorAll("svg.live").forEach(live)
})()
