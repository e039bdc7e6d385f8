package parser

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// signs are the operators and brackets, the longer one first where one starts another. Those after the gap are not part
// of the language: they are lexed so that the parser can say what to write instead.
var signs = []string{
	"<->", "->", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "**", "&&", "||",
	"+", "-", "*", "/", "@", "^", "=", "<", ">", "'", ".", ",", ":", ";", "~", "(", ")", "[", "]", "{", "}",

	"!", "%", "&", "|", "?", "$", "\\",
}

// signsBy holds the signs by their first byte.
var signsBy = func() (by [128][]string) {
	for _, s := range signs {
		by[s[0]] = append(by[s[0]], s)
	}
	return by
}()

// lookalikes are signs that word processors and papers put in the place of ASCII ones.
var lookalikes = map[rune]string{
	'−': "-", '–': "-", '—': "-", '×': "*", '·': "*", '⋅': "*", '∗': "*", '÷': "/", '∕': "/", '≤': "<=", '≥': ">=",
	'≠': "!=", '→': "->", '⇌': "<->", '↔': "<->", '’': "'", '′': "'", '‘': "'", '，': ",", '；': ";", '：': ":",
	'（': "(", '）': ")",
}

// scanner turns a file into tokens. It reports what it finds wrong and goes on.
type scanner struct {
	file     *source.File
	text     string
	at       int
	line     bool // a line ended since the last token
	tokens   []ast.Token
	comments []ast.Comment
	diags    *diag.List
	encoded  int // places that are no text
}

// scan returns the tokens of f, ended by one EOF token, and its comments.
func scan(f *source.File, l *diag.List) ([]ast.Token, []ast.Comment) {
	s := &scanner{file: f, text: f.Text(), line: true, diags: l}
	if strings.HasPrefix(s.text, "\xff\xfe") || strings.HasPrefix(s.text, "\xfe\xff") {
		l.Errorf(CodeEncoding, s.span(0, 2), "this file is in UTF-16; save it as UTF-8")
		s.at = len(s.text)
		s.emit(ast.EOF, "", len(s.text))
		return s.tokens, nil
	}
	s.tokens = make([]ast.Token, 0, len(s.text)/4+1)
	s.at = len(s.text) - len(strings.TrimPrefix(s.text, "\ufeff"))
	if isNoText(s.text) {
		s.encoding(min(len(s.text), 8), "this is a binary file, and no model: models are texts in UTF-8")
		s.emit(ast.BadToken, s.text, len(s.text))
	}
	const often = 1 << 12 // tokens and blanks
	for k := 0; s.at < len(s.text); k++ {
		if s.next(); k%often == 0 {
			l.Look()
		}
	}
	s.emit(ast.EOF, "", len(s.text))
	return s.tokens, s.comments
}

func (s *scanner) span(start, end int) source.Span {
	return source.Span{File: s.file, Start: start, End: end}
}

func (s *scanner) emit(kind ast.TokenKind, text string, end int) {
	s.tokens = append(s.tokens, ast.Token{Kind: kind, Text: text, Start: s.at, End: end, NewLine: s.line})
	s.at, s.line = end, false
}

// next consumes one token, comment or blank.
func (s *scanner) next() {
	switch c := s.text[s.at]; {
	case c == '\n':
		s.line = true
		s.at++
	case c == ' ' || c == '\t' || c == '\r':
		s.at++
	case c == '#':
		s.comment()
	case c == '"':
		s.str()
	case c == '`':
		s.quoted()
	case '0' <= c && c <= '9', c == '.' && s.at+1 < len(s.text) && isDigit(s.text[s.at+1]):
		s.number()
	case c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		s.name()
	case c < utf8.RuneSelf:
		s.sign(c)
	default:
		r, _ := utf8.DecodeRuneInString(s.text[s.at:])
		if unicode.IsLetter(r) {
			s.name()
			return
		}
		s.foreign()
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) comment() {
	end := strings.IndexByte(s.text[s.at:], '\n')
	if end < 0 {
		end = len(s.text)
	} else {
		end += s.at
	}
	text := strings.TrimRight(s.text[s.at:end], " \t\r")
	if !utf8.ValidString(text) {
		s.diags.Errorf(CodeEncoding, s.span(s.at, s.at+len(text)),
			"this comment is not valid UTF-8; save the file as UTF-8")
		text = strings.ToValidUTF8(text, "\ufffd")
		s.comments = append(s.comments, ast.Comment{Text: text, Span: s.span(s.at, end)})
	} else {
		s.comments = append(s.comments, ast.Comment{Text: text, Span: s.span(s.at, s.at+len(text))})
	}
	s.at = end
}

func (s *scanner) str() {
	i := s.at + 1
	for i < len(s.text) && s.text[i] != '"' && s.text[i] != '\n' {
		if s.text[i] == '\\' && i+1 < len(s.text) && s.text[i+1] != '\n' {
			i++
		}
		i++
	}
	if i >= len(s.text) || s.text[i] == '\n' {
		end := s.at + len(strings.TrimRight(s.text[s.at:min(i, len(s.text))], " \t\r"))
		s.diags.Errorf(CodeString, s.span(s.at, end), "the string has no closing \"; a string ends on its line")
		s.emit(ast.StringToken, s.text[s.at:end], min(i, len(s.text)))
		return
	}
	text := s.text[s.at : i+1]
	if !utf8.ValidString(text) {
		s.diags.Errorf(CodeEncoding, s.span(s.at, i+1), "this string is not valid UTF-8; save the file as UTF-8")
	}
	s.emit(ast.StringToken, text, i+1)
}

func (s *scanner) quoted() {
	rest := s.text[s.at+1:]
	n := strings.IndexAny(rest, "`\n")
	if n < 0 || rest[n] == '\n' {
		if n < 0 {
			n = len(rest)
		}
		end := s.at + 1 + len(strings.TrimRight(rest[:n], " \t\r"))
		s.diags.Errorf(CodeQuotedName, s.span(s.at, end), "the quoted name has no closing `; a name ends on its line")
		s.emit(ast.QuotedToken, foldName(strings.ToValidUTF8(s.text[s.at+1:end], "\ufffd")), end)
		return
	}
	end := s.at + n + 2
	name := rest[:n]
	switch {
	case n == 0:
		s.diags.Errorf(CodeQuotedName, s.span(s.at, end), "a quoted name cannot be empty")
	case !utf8.ValidString(name):
		s.diags.Errorf(CodeEncoding, s.span(s.at, end), "this name is not valid UTF-8; save the file as UTF-8")
		name = strings.ToValidUTF8(name, "\ufffd")
	case strings.ContainsFunc(name, unicode.IsControl):
		s.diags.Errorf(CodeQuotedName, s.span(s.at, end), "a quoted name cannot hold control characters")
	}
	s.emit(ast.QuotedToken, foldName(name), end)
}

// foldName makes names that look alike equal: NFC, and the micro sign is mu.
func foldName(name string) string {
	for i := 0; i < len(name); i++ {
		if name[i] >= utf8.RuneSelf {
			return norm.NFC.String(strings.ReplaceAll(name, "\u00b5", "\u03bc"))
		}
	}
	return name
}

func (s *scanner) name() {
	i := s.at
	for i < len(s.text) {
		c := s.text[i]
		if c < utf8.RuneSelf {
			if c != '_' && !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
				break
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s.text[i:])
		if !unicode.In(r, unicode.L, unicode.Nd, unicode.Mn, unicode.Mc) {
			break
		}
		i += size
	}
	text := foldName(s.text[s.at:i])
	kind := ast.IdentToken
	if Reserved(text) || lateBlocks[text] && s.line && opensBlock(s.text[i:]) {
		kind = ast.KeywordToken
	}
	s.emit(kind, text, i)
}

// opensBlock reports whether what follows the word of a settings block is its body, with or without a name before it.
func opensBlock(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r")
	named := strings.TrimLeftFunc(rest, func(r rune) bool {
		return r == '_' || unicode.In(r, unicode.L, unicode.Nd, unicode.Mn, unicode.Mc)
	})
	return strings.HasPrefix(strings.TrimLeft(named, " \t\r\n"), "{")
}

// number scans 1, 1., .5, 1e3, 2.5e-3. What follows directly is left to the parser, which knows whether "2k" stands
// in a reaction or in an expression.
func (s *scanner) number() {
	i := s.at
	digits := func() {
		for i < len(s.text) && isDigit(s.text[i]) {
			i++
		}
	}
	digits()
	if i < len(s.text) && s.text[i] == '.' {
		i++
		digits()
	}
	if i < len(s.text) && s.text[i]|0x20 == 'e' {
		mark := i
		i++
		if i < len(s.text) && (s.text[i] == '+' || s.text[i] == '-') {
			i++
		}
		if i == len(s.text) || !isDigit(s.text[i]) {
			i = mark
		}
		digits()
	}
	s.emit(ast.NumberToken, s.text[s.at:i], i)
}

func (s *scanner) sign(c byte) {
	for _, sign := range signsBy[c] {
		if strings.HasPrefix(s.text[s.at:], sign) {
			s.emit(ast.SignToken, sign, s.at+len(sign))
			return
		}
	}
	end := s.at + 1
	if c == 0 {
		for end < len(s.text) && s.text[end] == 0 {
			end++
		}
		s.encoding(end, "NUL bytes: this is not a text file in UTF-8")
	} else {
		s.diags.Errorf(CodeCharacter, s.span(s.at, end), "the control character U+%04X is not allowed; delete it", c)
	}
	s.emit(ast.BadToken, s.text[s.at:end], end)
}

// encoding reports that what stands up to end is no text. A few such places are enough, because the remedy is to save
// the file in another encoding.
func (s *scanner) encoding(end int, what string) {
	const most = 3
	if s.encoded++; s.encoded <= most {
		s.diags.Errorf(CodeEncoding, s.span(s.at, end), "%s", what)
	}
}

// foreign reports what cannot stand outside strings and comments.
func (s *scanner) foreign() {
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	end := s.at + size
	span := s.span(s.at, end)
	switch as, known := lookalikes[r]; {
	case r == utf8.RuneError && size == 1:
		for end < len(s.text) {
			if r, size := utf8.DecodeRuneInString(s.text[end:]); r != utf8.RuneError || size != 1 {
				break
			}
			end++
		}
		s.encoding(end, "invalid UTF-8; save the file as UTF-8")
	case known:
		s.diags.Errorf(CodeLookalike, span, "the sign \"%c\" (U+%04X) is not \"%s\"; write %s", r, r, as, as).
			Fix(span, as, "write "+as)
		s.emit(ast.SignToken, as, end)
		return
	case r == '“' || r == '”' || r == '„':
		if n := strings.IndexAny(s.text[end:], "“”„\n"); n >= 0 && s.text[end+n] != '\n' {
			inner := s.text[end : end+n]
			end += n + len("“")
			span = s.span(s.at, end)
			s.diags.Errorf(CodeLookalike, span, "strings stand in straight quotes: \"%s\"", inner).
				Fix(span, `"`+inner+`"`, "write straight quotes")
			s.emit(ast.StringToken, `"`+inner+`"`, end)
			return
		}
		s.diags.Errorf(CodeLookalike, span, "strings stand in straight quotes: \"...\"")
	case unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zs, r):
		s.diags.Errorf(CodeCharacter, span, "an invisible character (U+%04X) stands here; write a space", r).
			Fix(span, " ", "write a space")
		s.at = end
		return
	case power(r) != "":
		s.diags.Errorf(CodeCharacter, span, "a raised \"%c\" is not a power; write ^%s", r, power(r)).
			Fix(span, "^"+power(r), "write ^"+power(r))
	default:
		s.diags.Errorf(CodeCharacter, span, "the character \"%c\" (U+%04X) is not part of the language; names are "+
			"letters, digits and _%s",
			r, r, map[bool]string{true: ", others stand in backquotes"}[unicode.IsPrint(r)])
	}
	s.emit(ast.BadToken, s.text[s.at:end], end)
}

// power returns the digit that a superscript digit raises to, or "".
func power(r rune) string {
	for i, s := range []rune("⁰¹²³⁴⁵⁶⁷⁸⁹") {
		if r == s {
			return fmt.Sprint(i)
		}
	}
	return ""
}
