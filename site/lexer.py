"""Highlights models by the grammar that editors use, so that there is one."""

import json
import pathlib
import re

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

GRAMMAR = pathlib.Path(__file__).resolve().parent.parent / "editors/vscode/syntaxes/odes.tmLanguage.json"

# The first scope that a name begins with decides.
TOKENS = [
    ("comment.line.documentation", Comment.Special),
    ("comment", Comment),
    ("string", String),
    ("constant.character", String.Escape),
    ("constant.numeric", Number),
    ("constant.language", Keyword.Constant),
    ("storage.type", Keyword.Declaration),
    ("keyword.operator.word", Operator.Word),
    ("keyword.operator", Operator),
    ("keyword", Keyword),
    ("support.type.unit", Keyword.Type),
    ("support.function", Name.Builtin),
    ("entity.name.function", Name.Function),
    ("variable.other.state", Name.Variable),
    ("variable", Name),
    ("punctuation", Punctuation),
]


def token(scope):
    for prefix, kind in TOKENS:
        if scope.startswith(prefix):
            return kind
    raise ValueError(f"no token for the scope {scope}")


def python(pattern):
    """Writes a pattern of the grammar, which names classes of Unicode, for Python's re."""
    for theirs, ours in [
        (r"[\p{L}_][\p{L}\p{Nd}\p{M}_]*", r"[^\W\d]\w*"),
        (r"[\p{L}_\d]", r"\w"),
    ]:
        pattern = pattern.replace(theirs, ours)
    if r"\p" in pattern:
        raise ValueError(f"no equivalent for {pattern}")
    return pattern


def rule(pattern):
    """Makes a rule of Pygments of a pattern of the grammar."""
    if "begin" in pattern:  # a string, which ends with its line at the latest
        return (python(pattern["begin"]) + r'(?:\\.|[^"\\\n])*"?', token(pattern["name"]))
    if "captures" not in pattern:
        return (python(pattern["match"]), token(pattern["name"]))
    kinds = {int(n): token(c["name"]) for n, c in pattern["captures"].items()}

    def pieces(lexer, match, ctx=None):
        at = match.start()
        for n, kind in sorted(kinds.items()):
            if match.start(n) < 0:
                continue
            yield at, Text, match.string[at : match.start(n)]
            yield match.start(n), kind, match[n]
            at = match.end(n)
        yield at, Text, match.string[at : match.end()]

    return (python(pattern["match"]), pieces)


class OdesLexer(RegexLexer):
    name = "odes"
    aliases = ["odes"]
    filenames = ["*.ode"]
    flags = re.MULTILINE
    tokens = {
        "root": [rule(p) for p in json.loads(GRAMMAR.read_text())["patterns"]]
        + [(r"[^\W\d]\w*", Name), (r"\s+", Text), (r".", Punctuation)],
    }
