// How Sphinx's search puts pages in order: those that answer questions come first, and those for people who work on the
// program last. The other numbers are Sphinx's own.
var Scorer = {
  score: (result) => {
    const [page, , , , score] = result
    if (page.startsWith("docs/how/")) return score + 40
    if (/^docs\/(from|faq|install|glossary)/.test(page)) return score + 12
    if (/^(api|docs\/man)\/|^(CHANGELOG|CONTRIBUTING|SECURITY)$|^docs\/(architecture[a-z-]*|benchmarks)$/.test(page)) return score - 30
    return score
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
}
