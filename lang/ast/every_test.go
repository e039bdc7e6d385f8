package ast_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// everyItem has each item of the language, and each form of expression.
const everyItem = `#!/usr/bin/env odes
model all "with a title"
import "lib.ode" as lib
import "std/kinetics.ode"
import model "cell.ode" as Cell
use Cell as c[i] { k = 2*i  initial(V) = -1; m.half = 3 } for i in 1:4
use Cell as one { k = 1 } with data
unit M = mol/L
## the time
time t : [h] from 0 to 24 [h]
const n = 4, names = ["a", "b"]
param k = 0.3 [1/h] in [0, 10] ~ lognormal(0, 1), A[n,2] = 0
param q : [m] = 3
state x = 1 [mg], y[n] = 2
discrete d = 0
alg z = 1
random e ~ normal(0, w), k[2] : [m] ~ mvnormal(Omega) by D.OCC
control u = 0 [N] in [-6, 6] piecewise constant on grid(0, 2, 41)
let c = if x > 1 [mg] and not (k < 2) or false then -x^2 else (x)
let w[i,j] = sum(A[i,l] * A[j,l] for l in 1:2) for i in 1:n, j in 1:n
output o : [mg] = x as [mg]
output c, x, one.V
event far when c[2].m.x > 1 { c[2].V = 0  c[1].g[2].x += 1 }
fn f(a, b : [m], v[m]) = a * b + v[1]
x' = -k*x + table(t)[2]
y[i]' = y[i-1] - y[i+1] + sum(w @ y) for i in 2:n-1
event dose at 4 [h], 8 [h] { x += 1 [mg]; let s = 3; d = s; stop }
event hit when x <= 0 once { x = 0 }
event tick every 2 [h] from 1 [h] count 3 { y[i] = 0 for i in 1:n }
reaction r: 2 A + B -> C rate k*A^2*B
reaction back: A <-> B rate k - 2*k
equilibrate { x = 0 }
experiment low { k = 1 [1/h]  at 24 [h] { x += 5 [mg] }  use D where arm == "low" }
data D = csv("d.csv", time = t)
observe c : [mg] = x ~ normal(1, below = D.lloq) from D.c
objective J = integral(x^2, from = 0, to = 3) + max_over(x)
constraint c: final(x) <= 3
invariant x + y[1] == 4
assert k > 0
solver stiff { rtol = 1e-6  method = auto }
sens { mode = adjoint }
fit { starts = 3 }
sample { draws = 100 }
simulate { seed = 1 }
ensemble wide { n = 10  k ~ normal(1, 2)  A[2] ~ uniform(0, 1)  initial(x) ~ exponential(1)  seed = 3 }
`

// texts are models: those of the examples, those of the parser's tests, and everyItem.
func texts(t *testing.T) map[string]string {
	list := map[string]string{"every": everyItem}
	for _, root := range []string{"../../examples", "../../parser/testdata", "../../stdlib/std"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".ode") {
				return err
			}
			text, err := os.ReadFile(path)
			list[path] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(list) < 40 {
		t.Fatalf("%d texts", len(list))
	}
	return list
}

// docs is a doc comment in a dump.
var docs = regexp.MustCompile(` \(doc "(?:[^"\\]|\\.)*"\)| ##"(?:[^"\\]|\\.)*"`)

// undocumented is the dump of an item without its doc comments, which stand in lines of their own.
func undocumented(item ast.Item) string { return docs.ReplaceAllString(ast.DumpNode(item), "") }

// TestEveryText: of every text, also one with errors, the walker visits each node once, within the place of the node
// around it; what an item declares lies in the item and is named as it is written; formatting keeps the tree and is
// done at once.
func TestEveryText(t *testing.T) {
	seen := map[string]bool{}
	for name, text := range texts(t) {
		var l diag.List
		f := parser.Parse(source.NewFile(name, text), &l)
		var around []ast.Node
		visited, left := 0, 0
		ast.Walk(f, func(n ast.Node) bool {
			visited++
			at := n.Pos()
			if at.Start > at.End || at.End > len(text) {
				t.Errorf("%s: %T at %d–%d of %d", name, n, at.Start, at.End, len(text))
			}
			if len(around) > 1 {
				if outer := around[len(around)-1].Pos(); at.Start < outer.Start || at.End > outer.End {
					t.Errorf("%s: %T at %d–%d is not within %T at %d–%d", name, n, at.Start, at.End,
						around[len(around)-1], outer.Start, outer.End)
				}
			}
			around = append(around, n)
			_, factor := n.(*ast.UnitFactor) // stands in the dump of its unit
			if ast.DumpNode(n) == "" && at.End > at.Start && !factor {
				t.Errorf("%s: %T has no dump", name, n)
			}
			return true
		}, func(n ast.Node) {
			left++
			if around[len(around)-1] != n {
				t.Errorf("%s: %T is left out of turn", name, n)
			}
			around = around[:len(around)-1]
		})
		inspected := 0
		ast.Inspect(f, func(ast.Node) bool { inspected++; return true })
		if visited != left || visited != inspected || visited < len(f.Items) {
			t.Errorf("%s: %d nodes entered, %d left, %d inspected", name, visited, left, inspected)
		}
		outside := 0
		ast.Inspect(f, func(n ast.Node) bool { outside++; return n == ast.Node(f) })
		if outside > visited {
			t.Errorf("%s: more nodes outside than all", name)
		}
		for _, item := range f.Items {
			seen[item.Keyword()] = true
			for _, d := range ast.Declarations(item) {
				if d.Kind == "" || d.Name.Span.Start < item.Pos().Start || d.Name.Span.End > item.Pos().End {
					t.Errorf("%s: %+v is not within its item", name, d)
				}
				if written := strings.Trim(d.Name.Span.Text(), "`"); written != d.Name.Name {
					t.Errorf("%s: %q is written %q", name, d.Name.Name, written)
				}
			}
		}
		if l.Err() != nil {
			continue
		}
		for _, item := range f.Items {
			text := ast.ItemString(item)
			var l diag.List
			back := parser.Parse(source.NewFile("item", text+"\n"), &l)
			if l.Err() != nil || len(back.Items) != 1 || undocumented(back.Items[0]) != undocumented(item) {
				t.Errorf("%s: %s\nis written\n%s\n%v", name, item.Pos().Text(), text, l.Err())
			}
		}
		once := ast.Format(f)
		again := parser.Parse(source.NewFile(name, once), &l)
		if err := l.Err(); err != nil {
			t.Errorf("%s: formatted, it does not parse: %v", name, err)
			continue
		}
		if ast.Dump(again) != ast.Dump(f) {
			t.Errorf("%s: formatting changes the tree", name)
		}
		if ast.Format(again) != once {
			t.Errorf("%s: formatting twice changes the text", name)
		}
		lines := ast.LinesOf(f)
		for i := range lines.Of {
			if first := lines.First(i); first != (i == 0 || lines.Of[i] != lines.Of[i-1]) {
				t.Errorf("%s: token %d", name, i)
			}
		}
	}
	for _, word := range parser.ItemWords() {
		if !seen[word] && !seen["settings"] {
			t.Errorf("no text has the item %s", word)
		}
	}
}
