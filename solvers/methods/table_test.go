package methods

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"odes.dev/odes/solvers/stages"
	"odes.dev/odes/solvers/tableau"
)

var update = flag.Bool("update", false, "rewrite the table of methods in docs/methods.md")

// TestTable holds the table of docs/methods.md against the tables of methods.
func TestTable(t *testing.T) {
	const path, from, to = "../../docs/methods.md", "<!-- methods -->\n", "<!-- end methods -->\n"
	var b strings.Builder
	b.WriteString("| name | method | order | estimate | stages | order inside | further stages | error inside | " +
		"source |\n|" + strings.Repeat("---|", 9) + "\n")
	for _, m := range All() {
		info := m.Info()
		stages, inside, tab := fmt.Sprint(info.Stages), "–", tableOf(m)
		if many := m.Members; many != nil {
			first := many[0].Info()
			stages, info.FSAL = fmt.Sprintf("%d to %s", first.Stages, stages), first.FSAL
			info.DenseStages, info.DenseOrder, tab = first.DenseStages, first.DenseOrder, tableOf(many[0])
			if first.Iterates {
				stages = fmt.Sprintf("%d to %d, implicit", first.Solved, many[len(many)-1].Info().Solved)
			}
		}
		switch {
		case info.Iterates:
			stages = fmt.Sprintf("%d, implicit", info.Solved)
		case info.Solved > 0:
			stages = fmt.Sprintf("%d, linearly implicit", info.Solved)
		}
		if info.FSAL {
			stages += ", first same as last"
		}
		if tab != nil {
			x, err := tab.Coefficients()
			if err != nil {
				t.Fatal(err)
			}
			inside = fmt.Sprintf("%.1e", leadingError(x))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %d | %s | %d | %d | %s | %s |\n", m.Name, m.Title, m.Order, m.Embedded,
			stages,
			info.DenseOrder, info.DenseStages, inside, m.Source)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), from)
	_, after, closed := strings.Cut(rest, to)
	if !found || !closed {
		t.Fatalf("%s has no place for the table", path)
	}
	want := before + from + b.String() + to + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s does not show the methods; go test ./solvers/methods -run TestTable -update rewrites it:\n%s",
			path,
			b.String())
	}
	if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
}

// leadingError returns the size of the leading term of the dense output's local error, over h to that power:
// the largest, for θ in [0, 1], of the root of the sum of squares of
//
//	(Σ β_i(θ) Φ_i(t) - θ^|t|/γ(t)) / σ(t)
//
// over the trees t of the first order with such terms (Hairer, Nørsett, Wanner I, equation II.3.3 and theorem II.3.2).
func leadingError(x *tableau.Coefficients) float64 {
	var a [][]float64
	for _, row := range append(append([][]*big.Rat(nil), x.A...), x.DenseA...) {
		r := make([]float64, len(row))
		for j, v := range row {
			r[j] = tableau.Round(v)
		}
		a = append(a, r)
	}
	all := trees(x.DenseOrder + 1)
	u, au, sym := make([][]float64, len(all)), make([][]float64, len(all)), make([]float64, len(all))
	for k, tr := range all {
		sym[k] = 1
		same := 0.0
		for i, c := range tr.children { // ascending
			if same++; i > 0 && tr.children[i-1] != c {
				same = 1
			}
			sym[k] *= same * sym[c]
		}
		u[k], au[k] = make([]float64, len(a)), make([]float64, len(a))
		for i := range a {
			u[k][i] = 1
			for _, c := range tr.children {
				u[k][i] *= au[c][i]
			}
		}
		for i, row := range a {
			for j, v := range row {
				au[k][i] += v * u[k][j]
			}
		}
	}
	var q [][]float64
	for _, p := range x.DenseB {
		q = append(q, tableau.Centred(p))
	}
	worst := 0.0
	for n := range 65 {
		theta := float64(n) / 64
		beta := make([]float64, len(q))
		for i := range q {
			beta[i] = stages.PolyAt(q[i], theta)
		}
		sum := 0.0
		for k, tr := range all {
			if tr.order <= x.DenseOrder {
				continue
			}
			density, _ := new(big.Float).SetInt(tr.density).Float64()
			e := -math.Pow(theta, float64(tr.order)) / density
			for i, v := range beta {
				e += v * u[k][i]
			}
			sum += e * e / (sym[k] * sym[k])
		}
		worst = max(worst, math.Sqrt(sum))
	}
	return worst
}
