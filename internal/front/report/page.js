// What a report can do beyond being read: tables sort by a click on a heading, and a button chooses light or dark.
"use strict"

;(() => {
  // number reads a cell as a number, with the marks that may follow it; NaN where it is none.
  const number = (text) => {
    const word = text.trim().replace(/[?!|~]+$/, "").split(" ")[0]
    return word === "" ? NaN : word === "inf" ? Infinity : word === "-inf" ? -Infinity : Number(word)
  }
  for (const table of document.querySelectorAll("table")) {
    const head = table.tHead?.rows[0], body = table.tBodies[0]
    if (!head || body.rows.length < 2) continue
    const was = [...body.rows]
    // An empty row divides a table into parts that do not mix.
    if (was.some((row) => !row.textContent.trim())) continue
    // What is empty in the first column is as above it, and says so while rows are in another order.
    let above = ""
    const firstWas = was.map((row) => row.cells[0].textContent)
    const first = firstWas.map((text) => { above = text.trim() ? text : above; return above })
    ;[...head.cells].forEach((cell, k) => {
      if (!cell.textContent.trim()) return
      const button = document.createElement("button")
      button.type = "button"
      button.textContent = cell.textContent
      button.title = "Sort by this column"
      cell.replaceChildren(button)
      button.addEventListener("click", () => {
        const now = cell.getAttribute("aria-sort")
        const next = now === "ascending" ? "descending" : now === "descending" ? "" : "ascending"
        for (const c of head.cells) c.removeAttribute("aria-sort")
        if (next) cell.setAttribute("aria-sort", next)
        const side = next === "descending" ? -1 : 1
        was.forEach((row, i) => { row.cells[0].textContent = (next ? first : firstWas)[i] })
        const rows = next === "" ? was : [...was].sort((a, b) => {
          const [s, t] = [a.cells[k]?.textContent ?? "", b.cells[k]?.textContent ?? ""]
          const [x, y] = [number(s), number(t)]
          if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1 // what is no number comes last
          return side * (Number.isNaN(x) ? s.localeCompare(t) : x - y)
        })
        body.append(...rows)
      })
    })
  }
  // What scrolls by itself can be reached by keyboard, also after the window, or an opened part, has given it another size.
  const sized = new ResizeObserver(list => {
    for (const { target: e } of list) if (e.scrollWidth > e.clientWidth) e.tabIndex = 0
  })
  for (const e of document.querySelectorAll("figure, .wide, pre")) sized.observe(e)
  const links = document.querySelector(".links") ?? document.querySelector("h1")
    .insertAdjacentElement("afterend", Object.assign(document.createElement("p"), { className: "links" }))
  const button = document.createElement("button")
  button.type = "button"
  const dark = () => (document.documentElement.dataset.theme ??
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark"
  const say = () => { button.textContent = dark() ? "Light" : "Dark" }
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark"
    say()
  })
  say()
  links.append(button)
})()
