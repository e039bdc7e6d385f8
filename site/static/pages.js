// What pages have beside their text: links from models to the playground, and what readers by ear or keyboard need.
"use strict"

;(() => {
  const script = document.currentScript.src
  const root = new URL("../", script)
  const whole = /^model\s+[\p{L}_]/mu
  async function pack(value) {
    const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"))
    let text = ""
    for (const b of new Uint8Array(await new Response(stream).arrayBuffer())) text += String.fromCharCode(b)
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")
  }
  const within = (link) => {
    const at = new URL(link.getAttribute("href"), document.baseURI).href
    return at.startsWith(root.href) ? at.slice(root.href.length) : ""
  }
  async function add(block) {
    const pre = block.querySelector("pre")
    const text = pre.textContent
    if (!whole.test(text)) return
    const file = block.parentElement.matches(".literal-block-wrapper") &&
      block.parentElement.querySelector(".code-block-caption a[href$='.ode']")
    let hash = ""
    if (file) {
      const folder = new URL(".", location.href).href.slice(root.href.length)
      hash = `e=${encodeURIComponent(folder + file.textContent.trim())}`
    } else {
      const value = { text }
      // Files that the text names are blocks of the page, which say so in front, or lie where a link of the page says.
      const name = /\b(?:csv|load)\("([^"\n]+)"/.exec(text)
      const shown = name && [...document.querySelectorAll("article p + div > .highlight")].find((b) =>
        b.parentElement.previousElementSibling.textContent.trim().endsWith(`${name[1]}:`))
      if (shown) value.files = { [name[1]]: shown.querySelector("pre").textContent }
      const link = name && [...document.querySelectorAll("article a[href]")].find((a) =>
        a.getAttribute("href").endsWith(`/${name[1]}`))
      if (link) value.at = within(link).slice(0, -name[1].length)
      hash = `m=${await pack(value)}`
    }
    const a = document.createElement("a")
    a.className = "open-in-playground"
    a.href = new URL(`playground.html#${hash}`, root).href
    a.textContent = "Open in the playground"
    if (file) block.parentElement.after(a)
    else block.after(a)
  }
  if (typeof CompressionStream === "undefined") return
  document.querySelectorAll("article .highlight-odes").forEach((block) => { add(block) })
})()

;(() => {
  // What is typed can be copied by a button.
  if (navigator.clipboard) {
    for (const block of document.querySelectorAll("article div.highlight")) {
      const button = document.createElement("button")
      button.type = "button"
      button.className = "copy-button"
      button.textContent = "Copy"
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(block.querySelector("pre").textContent.replace(/\n$/, ""))
        button.textContent = "Copied"
        setTimeout(() => { button.textContent = "Copy" }, 1500)
      })
      block.append(button)
    }
  }
  // Pictures rest where readers want them to.
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    document.querySelectorAll("svg.home-picture").forEach((e) => e.pauseAnimations())
  }
})()

;(() => {
  for (const e of document.querySelectorAll(".caption[role=heading]:not([aria-level])")) e.setAttribute("aria-level", "2")
  const names = { ".sidebar-drawer": "Pages", ".toc-drawer": "On this page" }
  for (const name in names) document.querySelector(name)?.setAttribute("aria-label", names[name])
  // What scrolls by itself can be reached by keyboard.
  const reach = () => {
    for (const e of document.querySelectorAll("article pre:not([aria-hidden]), article table")) {
      if (e.scrollWidth > e.clientWidth) e.tabIndex = 0
    }
  }
  reach()
  addEventListener("resize", reach)
})()
