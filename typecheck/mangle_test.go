package typecheck

import (
	"flag"
	"math/rand"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

var mangled = flag.Int("mangled", 1500, "number of mangled models to check")

// TestMangled checks models in which words are exchanged for words of other models. Most still
// parse, few make sense, and none may cause a panic.
func TestMangled(t *testing.T) {
	words := regexp.MustCompile(`[\p{L}_][\p{L}\d_]*|\d+(\.\d+)?|[-+*/@^=<>!]+|[][(){},:;'~.]|"[^"]*"|\n`)
	var texts [][]string
	var pool []string
	for _, file := range archives(t) {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list := words.FindAllString(string(a.Files[0].Data), -1)
		texts = append(texts, list)
		pool = append(pool, list...)
	}
	files := fstest.MapFS{"a.csv": {Data: []byte("1,2\n3,4\n")}, "d.csv": {Data: []byte("time,y\n0,1\n1,2\n")}}
	r := rand.New(rand.NewSource(int64(seeds.Of(t, 1))))
	parsed, correct := 0, 0
	for range *mangled {
		text := append([]string{}, texts[r.Intn(len(texts))]...)
		for range 1 + r.Intn(4) {
			// Words of the same sort keep the text grammatical more often.
			i := r.Intn(len(text))
			for range 20 {
				w := pool[r.Intn(len(pool))]
				if sortOf(w) == sortOf(text[i]) {
					text[i] = w
					break
				}
			}
		}
		var l diag.List
		in := strings.Join(text, " ")
		tree := parser.Parse(source.NewFile("mangled.ode", in), &l)
		if !l.HasErrors() {
			parsed++
		}
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s\n%v", in, p)
					panic(p)
				}
			}()
			if m := Check(tree, Env{Files: files, MaxElements: 10000}, &l); m != nil {
				correct++
				sane(t, m)
				if err := model.Dump(discard{}, m); err != nil {
					t.Error(err)
				}
			}
		}()
		if t.Failed() {
			t.Fatal(in)
		}
	}
	if parsed < *mangled/10 || correct < *mangled/100 {
		t.Errorf("of %d, %d parsed and %d were correct: too few to show anything", *mangled, parsed, correct)
	}
}

// sortOf gives words that may stand in the same places the same number.
func sortOf(w string) int {
	c := w[0]
	switch {
	case c >= '0' && c <= '9':
		return 1
	case strings.ContainsAny(w, "+-*/@^"):
		return 2
	case strings.ContainsAny(w, "<>!=") && w != "=":
		return 3
	case parser.Reserved(w):
		return 4
	case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c > 127:
		return 5
	}
	return int(c) + 256
}
