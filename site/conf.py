"""Configuration of Sphinx for the documentation site. `make site` runs it."""

import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))

from lexer import OdesLexer  # noqa: E402

project = "odes"
author = "The odes authors"
copyright = author
release = re.search(r'const Version = "(.*)"', (here.parent / "version.go").read_text())[1]

extensions = ["myst_parser", "sphinx_design"]
root_doc = "index"
source_suffix = {".md": "markdown"}
# Texts are shown as they are written: no typographic quotes, no dashes made of hyphens.
smartquotes = False
highlight_language = "text"
# Some blocks are only like the language that they are marked as: Go with an ellipsis, a grammar.
suppress_warnings = ["misc.highlighting_failure"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"odes {release}"
html_static_path = ["static", ".build/playground/static"]
html_extra_path = [".build/content/_models"]  # models that the playground fetches, where their pages are
html_css_files = ["site.css", "playground/playground.css"]
html_js_files = [("pages.js", {"defer": "defer"})]
html_favicon = "static/logo.svg"
html_search_scorer = str(here / "scorer.js")
html_copy_source = False
html_use_index = False
html_show_sphinx = False
html_theme_options = {
    "light_logo": "logo.svg",
    "dark_logo": "logo.svg",
    "light_css_variables": {
        "color-brand-primary": "#0b6b74",
        "color-brand-content": "#0b6b74",
        "color-brand-visited": "#5b4a8a",
    },
    "dark_css_variables": {
        "color-brand-primary": "#62cbd0",
        "color-brand-content": "#62cbd0",
        "color-brand-visited": "#b9a6ee",
    },
}


def setup(app):
    app.add_lexer("odes", OdesLexer)
