package repl

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"odes.dev/odes/data"
	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/parser"
	"odes.dev/odes/stdlib"
)

// keywords returns the words that complete inside of items and commands.
func keywords() []string {
	words := parser.WordsOf(parser.PartWord, parser.OperatorWord, parser.FreeWord)
	return append(words, "wrt", "against", "of", "points")
}

// expressionWords returns what may stand in expressions, besides names of the model.
func expressionWords() (words []string) {
	for _, f := range stdlib.Funcs() {
		if first, _ := utf8.DecodeRuneInString(f.Name); f.Class != stdlib.Noise && unicode.IsLetter(first) {
			words = append(words, f.Name)
		}
	}
	return append(words, parser.WordsIn("expression")...)
}

// argumentWords returns the words that a command takes besides names and expressions.
func (s *Session) argumentWords(c *command) (words []string) {
	switch c.name {
	case "run":
		if s.now.model != nil && len(s.now.model.Experiments()) > 0 {
			words = []string{"in"}
		}
		return words
	case "help":
		for _, c := range commands() {
			words = append(words, c.name)
		}
		return words
	case "emit":
		return compile.Stages()
	case "doc":
		return append(slices.Clone(s.cfg.Words), parser.ItemWords()...)
	case "text", "remove", "reset":
		return s.declared()
	case "plot":
		words = []string{"against", "adjoint", "steps", "time", "in"}
	case "sens":
		return []string{"wrt", "in"}
	case "sweep":
		words = []string{"from", "to", "points", "of", "band", "steady", "in"}
	case "compare":
		words = append(slices.Clone(s.cfg.Words), "of", "in")
	}
	if a := analysis.Named(c.name); a != nil && words == nil {
		if words = wordsBehind(a); a.Behind == nil {
			return words
		}
	}
	return slices.Concat(words, s.declared(), expressionWords())
}

// inExpression reports whether a text is an expression, an assignment or an equation, outside of the brackets of a
// unit. Methods, units and words that start items do not fit there.
func inExpression(before string) bool {
	tokens := parser.TokensOf(before)
	return len(tokens) > 0 && !slices.Contains(parser.ItemWords(), tokens[0].Text) &&
		strings.LastIndexByte(before, '[') <= strings.LastIndexByte(before, ']')
}

// behindIn matches a line that continues with the name of an experiment, or with its beginning.
var behindIn = lazy.Regexp(`\sin\s(?:[^()\[\]]*,)?\s*([\pL\pN_]*)$`)

// fitting are the places where names of some kinds alone fit, by what stands before them.
var fitting = []struct {
	behind string // a regular expression
	kinds  []string
}{
	{`\b(?:at_event|event_time)\(\s*$`, []string{"event"}},
	{`\badjoint\(\s*$`, []string{"objective"}},
	{`\binitial\(\s*$`, []string{"state"}},
	{`\)\s*/\s*d\(\s*$`, []string{"param"}},
	{`^\s*sens\s(?:[^{]*,)?\s*$`, []string{"objective"}},
	{`^\s*sens\s[^{]*\swrt\s(?:[^{]*,)?\s*$`, []string{"param"}},
	{`^\s*(?:sweep|tune|reset)\s+$`, []string{"param"}},
}

// fits lists what fits behind a text, where that is names of some kinds, distributions or what a settings block holds.
func (s *Session) fits(before string) (words []string, ok bool) {
	for _, f := range fitting {
		if regexp.MustCompile(f.behind).MatchString(before) {
			return s.named(f.kinds), true
		}
	}
	if strings.HasSuffix(strings.TrimRight(before, " "), "~") {
		for _, f := range stdlib.Funcs() {
			if f.Class == stdlib.Noise {
				words = append(words, f.Name)
			}
		}
		return words, true
	}
	block, key, ok := setting(parser.TokensOf(before))
	switch {
	case !ok:
		return nil, false
	case key == "":
		words = keys.Names(block)
	case keys.Find(block, key).Named() != nil:
		words = s.named(keys.Find(block, key).Named())
	default:
		words = settings.Words(block, key)
	}
	return words, len(words) > 0
}

// named lists the names of some kinds that the text of the model declares.
func (ws *workspace) named(kinds []string) (names []string) {
	items, _ := parser.Outline(ws.name(), ws.now.text)
	for _, it := range items {
		for _, p := range it.Parts {
			if name, _, _ := strings.Cut(p.Name, "["); slices.Contains(kinds, it.Kind) {
				names = append(names, strings.TrimSpace(name))
			}
		}
	}
	return names
}

// setting returns in which settings block a text ends, and behind the = of which key; "" where a key may stand.
func setting(tokens []ast.Token) (block, key string, ok bool) {
	if len(tokens) < 2 || keys.Of(tokens[0].Text) == nil ||
		tokens[1].Text != "{" && tokens[1].Text != "." {
		return "", "", false
	}
	depth := 0
	for i, t := range tokens[2:] {
		switch last := tokens[i+1].Text; {
		case t.Text == "=" && depth == 0:
			key = last
		case t.Text == "[" || t.Text == "(":
			depth++
		case t.Text == "]" || t.Text == ")":
			if depth--; depth == 0 {
				key = ""
			}
		case depth == 0 && last == "=": // the value
			key = ""
		case t.Text == "}":
			return "", "", false
		}
	}
	return tokens[0].Text, key, true
}

// numberAtEnd matches a line that ends in a number.
var numberAtEnd = lazy.Regexp(`(?:^|[^\pL\pN_])[0-9][0-9.]*$`)

// fileNames matches a line that continues with the name of a file.
var fileNames = lazy.Regexp(`(?:\b(csv|load)\(\s*|\bfrom\s+)"([^"]*)$`)

// Complete returns the words that the text before the cursor may become, and how many of its last
// bytes they replace.
func (s *Session) Complete(before string) (words []string, replaced int) {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	first, rest, spaced := strings.Cut(strings.TrimLeft(line, " "), " ")
	for _, places := range []func(*Session, string, string, string, bool) ([]string, int, bool){
		completePath, completeExperiment, completeDrawing,
	} {
		if words, replaced, ok := places(s, line, first, rest, spaced); ok {
			return words, replaced
		}
	}
	word := line[strings.LastIndexFunc(line, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
	})+1:]
	// codes of diagnostics have hyphens, and names have none
	if at := strings.LastIndexByte(word, '-'); at >= 0 && first != "doc" {
		word = word[at+1:]
	}
	var all []string
	at := slices.IndexFunc(commands(), func(c command) bool { return spaced && c.name == first })
	before = strings.TrimSuffix(line, word)
	switch fitting, ok := s.fits(before); {
	case ok:
		all = fitting
	case strings.HasSuffix(before, "--") || numberAtEnd().MatchString(before) && word == "":
		// no option, and no more of a number, is known
	case !spaced && strings.TrimLeft(line, " ") == word:
		all = beginnings(s, word)
	case at >= 0:
		if c := commands()[at]; c.form != c.name {
			all = s.argumentWords(&c)
		}
	case inExpression(before):
		all = slices.Concat(s.declared(), expressionWords(), keywords())
	default:
		all = slices.Concat(s.declared(), s.cfg.Words, keywords())
	}
	for _, w := range all {
		if first != "doc" && strings.Contains(w, "-") {
			continue // the code of a diagnostic
		}
		if strings.HasPrefix(w, word) && w != word {
			words = append(words, w)
		}
	}
	return useful(s, words, strings.TrimLeft(line, " ") == word), len(word)
}

// completePath completes the path of a file, where a line has one at its end: a command first, or without space none,
// and the rest.
func completePath(s *Session, line, first, rest string, spaced bool) (words []string, replaced int, ok bool) {
	if spaced && slices.Contains([]string{"load", "save"}, first) {
		path := strings.TrimLeft(rest, " ")
		return paths("", path, modelEndings), len(path), true
	}
	if at := strings.LastIndexByte(rest, ' ') + 1; spaced && first == "compare" &&
		strings.ContainsAny(rest[at:], "./") {
		return paths("", rest[at:], modelEndings), len(rest) - at, true
	}
	if in := fileNames().FindStringSubmatch(line); in != nil {
		endings := map[string][]string{"csv": data.TableEndings(), "load": data.Endings(), "": modelEndings}[in[1]]
		return paths(filepath.Dir(s.path), in[2], endings), len(in[2]), true
	}
	return nil, 0, false
}

// completeExperiment completes the name of an experiment behind the word for that.
func completeExperiment(s *Session, line, _, _ string, _ bool) (words []string, replaced int, ok bool) {
	in := behindIn().FindStringSubmatch(line)
	if in == nil || s.now.model == nil || len(s.now.model.Experiments()) == 0 {
		return nil, 0, false
	}
	for _, x := range append(s.now.model.Experiments(), unchanged) {
		if strings.HasPrefix(x, in[1]) && x != in[1] {
			words = append(words, x)
		}
	}
	slices.Sort(words)
	return words, len(in[1]), true
}

// completeDrawing completes an option of a command that draws.
func completeDrawing(_ *Session, line, first, _ string, spaced bool) (words []string, replaced int, ok bool) {
	if !spaced || !draws(first) {
		return nil, 0, false
	}
	return completeOption(line)
}

// beginnings are what a line may begin with, if it begins with a word.
func beginnings(s *Session, word string) (all []string) {
	for _, c := range commands() {
		all = append(all, c.name)
	}
	all = slices.Concat(all, parser.ItemWords(), s.declared())
	if word == "" {
		return all // the others would fill the screen with names of functions
	}
	return append(all, s.cfg.Words...)
}

// useful puts words in the order in which one looks for them: commands as help lists them where a line begins, names of
// the model, what values are made of, and the rest.
func useful(s *Session, words []string, begins bool) []string {
	rank := map[string]int{}
	put := func(list []string) {
		for _, w := range list {
			if _, ok := rank[w]; !ok {
				rank[w] = len(rank)
			}
		}
	}
	if begins {
		for _, c := range commands() {
			put([]string{c.name})
		}
	}
	names := s.declared()
	slices.Sort(names)
	put(names)
	if begins {
		put([]string{"param", "state", "let", "event", "objective"})
		put(parser.ItemWords())
	} else {
		put([]string{"wrt", "from", "to", "of", "final", "integral", "max_over", "exp", "log", "sqrt", "sin", "cos"})
	}
	last := len(rank)
	place := func(w string) int {
		if n, ok := rank[w]; ok {
			return n
		}
		return last
	}
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
	})
	return slices.Compact(words)
}

var modelEndings = []string{".ode"}

// paths completes the name of a file in a folder ("" for that of the process), with one of some endings.
func paths(folder, prefix string, endings []string) []string {
	dir, base := filepath.Split(prefix)
	from := dir
	if !filepath.IsAbs(dir) {
		from = filepath.Join(folder, dir)
	}
	if from == "" {
		from = "."
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case !strings.HasPrefix(name, base) || strings.HasPrefix(name, ".") && base == "":
		case e.IsDir():
			list = append(list, dir+name+string(filepath.Separator))
		case slices.Contains(endings, filepath.Ext(name)):
			list = append(list, dir+name)
		}
	}
	return list
}
