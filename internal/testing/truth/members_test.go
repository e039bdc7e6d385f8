package truth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/internal/testing/seeds"
)

// TestMembers draws models as TestRandom does, and makes an ensemble of each: its members have other values of one of
// the params, for which the closed form holds as well. An ensemble whose status is ok must be right in every number of
// every member.
func TestMembers(t *testing.T) {
	ofFamilies(t, 100, 1, func(t *testing.T, f *Family, each int) {
		first := seeds.Of(t, *seed)
		if each == 1 && *family == "" && (first+uint64(len(f.Name)))%8 != 0 {
			t.Skip("one in eight families, where few models are drawn")
		}
		var count [Broken + 1]int
		shown := 0
		for i := range each {
			s := first + uint64(i)
			c := f.Draw(s)
			v, say := membersOf(t, f, c, s)
			count[v]++
			if v >= Wrong && shown < 3 {
				shown++
				t.Errorf("seed %d: %s\n%s", s, say, indent(c.Text))
			}
		}
		if *report {
			printing.Lock()
			defer printing.Unlock()
			fmt.Printf("members of %-24s%5d: right %d, told %d, not run %d, silently wrong %d\n", f.Name, each,
				count[Right], count[Warned], count[Failed], count[Wrong])
		}
	})
}

// TestSmallMembers makes ensembles of models whose states are far smaller than the absolute tolerance, or become so:
// long decays, stiff chains, events in units of 1e-15.
func TestSmallMembers(t *testing.T) {
	t.Parallel()
	n, first := max(8, *models/300), seeds.Of(t, *seed)
	var count [Broken + 1]int
	for i := range n {
		s := first + uint64(i)
		text, name, rows, truths := smallMembers(rand.New(rand.NewPCG(s, 7)))
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		v, say := judgeMembers(t, m, name, rows, truths)
		if count[v]++; v >= Wrong {
			t.Errorf("seed %d: %s\n%s", s, say, indent(text))
		}
	}
	t.Logf("%d: right %d, told %d, silently wrong %d", n, count[Right], count[Warned], count[Wrong]+count[Broken])
	if count[Right] < n/10 { // an absolute tolerance of 1e-9 promises nothing of most of these states
		t.Errorf("only %d of %d are right", count[Right], n)
	}
}

// smallMembers draws a model, values of its param k for members, and what these must be.
func smallMembers(r *rand.Rand) (text, name string, rows [][]float64, truths [][]Number) {
	n := few
	if r.IntN(2) == 0 {
		n = many
	}
	exp := math.Exp
	scale, end := 1.0, float64(1+r.IntN(40))/4
	if r.IntN(3) > 0 {
		scale = math.Pow10(-r.IntN(16))
	}
	k := (0.1 + r.Float64()) * 30 / end // from short to long
	kind := r.IntN(3)
	fast, c, d := k*float64(20+r.IntN(400)), 0.2+0.6*r.Float64(), r.Float64()
	head := fmt.Sprintf("time t from 0 to %v\nparam k = %v\nparam a = 1\n", end, k)
	switch kind {
	case 0:
		text = head + fmt.Sprintf("state x = a*%v\nx' = -k*x\n", scale)
	case 1:
		text = head + fmt.Sprintf("param f = %v\nstate y = a*%v, x = 0\ny' = -f*y\nx' = f*y - k*x\n", fast, scale)
	default:
		text = head + fmt.Sprintf("state x = a*%v\nx' = -k*x\nevent e when x < %v once { x += %v }\n", scale, c*scale,
			d*scale)
	}
	text += "objective J = final(x)\n"
	for i := range n {
		k := k * (1 + 0.01*float64(i)/float64(n))
		j, byK := scale*exp(-k*end), -end*scale*exp(-k*end)
		switch {
		case kind == 1:
			w := fast / (fast - k)
			tail := exp(-fast * end)
			j = scale * w * (exp(-k*end) - tail)
			byK = scale * (w/(fast-k)*(exp(-k*end)-tail) - w*end*exp(-k*end))
		case kind == 2 && math.Log(1/c) < k*end:
			j, byK = j*(c+d)/c, byK*(c+d)/c
		}
		rows = append(rows, []float64{k})
		truths = append(truths, []Number{
			{Of: "J", Truth: j, Size: scale},
			{Of: "J", Wrt: "k", Truth: byK, Size: scale * end},
			{Of: "J", Wrt: "a", Truth: j, Size: scale},
		})
	}
	return text, "k", rows, truths
}

// few is how many members an ensemble of TestMembers has that is compared whole, and many of how many a sample is.
const few, many = 5, 40

// membersOf runs an ensemble of a model. The verdict is Failed where its params cannot be moved.
func membersOf(t *testing.T, f *Family, c Case, seed uint64) (Verdict, string) {
	n := few
	if (seed+uint64(len(f.Name)))%2 == 0 {
		n = many
	}
	m, err := odes.Parse("m.ode", c.Text, odes.ParseOptions{})
	if err != nil {
		return Broken, err.Error()
	}
	plain := map[string]bool{}
	for _, p := range plainParam.FindAllStringSubmatch(c.Text, -1) {
		plain[p[1]] = true
	}
	var may []param
	for _, p := range c.params {
		if plain[p.name] && p.scale > 0 {
			may = append(may, p)
		}
	}
	if len(may) == 0 {
		return Failed, ""
	}
	if f.Name == "observed kinks" || f.Name == "largest at kinks" { // other params leave the branch of the closed form
		may = may[:1]
	}
	p := may[seed/2%uint64(len(may))]
	var rows [][]float64
	var truths [][]Number
	for i := range n {
		by := p.scale * 1e-2 * ((float64(i)+0.5)/float64(n) - 0.5) // none is the model itself, which may be on an edge
		numbers, ok := f.moving(c, p.slot, by)
		if !ok || slices.ContainsFunc(numbers, func(n Number) bool { return math.IsNaN(n.Truth) }) {
			return Failed, ""
		}
		rows, truths = append(rows, []float64{c.written[p.slot] + by}), append(truths, numbers)
	}
	return judgeMembers(t, m, p.name, rows, truths)
}

// judgeMembers runs members with these values of a param and holds them against the truths.
func judgeMembers(t *testing.T, m *odes.Model, name string, rows [][]float64, truths [][]Number) (Verdict, string) {
	opts := append(settings(), odes.Setting{Key: "solver.max_steps", Value: "50000"})
	job := &ensemble.Job{
		Gradient: true, Options: opts, Design: ensemble.TableDesign([]string{name}, rows, 0),
	}
	problem, err := ensemble.OpenModel(job, m)
	if err != nil {
		return Broken, err.Error()
	}
	var all []*ensemble.Chunk
	sum := ensemble.NewStatistics(&problem.Table)
	found, err := ensemble.Run(t.Context(), problem, ensemble.Config{
		Backend: ensemble.Local{Threads: 1}, Each: func(x *ensemble.Chunk) error {
			sum.Add(x)
			all = append(all, x)
			return nil
		},
	})
	if err != nil {
		return Broken, err.Error()
	}
	if sum.Conclude(found); sum.Status() != "ok" {
		return Warned, ""
	}
	r, err := m.Prepare(odes.Options{Settings: opts, Threads: 1})
	if err != nil {
		return Broken, err.Error()
	}
	minor := map[int]bool{}
	for _, x := range all {
		found.Mark(x)
		for _, d := range x.Doubts {
			minor[d.Member] = true
		}
		for i := range x.Status {
			member := x.First + i
			if minor[member] {
				continue
			}
			row := x.Rows[i*problem.Table.Width()+1 : (i+1)*problem.Table.Width()]
			s := &odes.Sensitivities{
				Status: "ok", Variables: problem.Table.Variables, Columns: problem.Table.Columns,
				Gradient: row[len(problem.Table.Values):], Settings: r.Settings(),
			}
			for k, v := range problem.Table.Values {
				s.Values = append(s.Values, odes.Value{Name: v.Name, Value: row[k]})
			}
			if o := compare(Case{Numbers: truths[member]}, s); o.Verdict >= Wrong {
				return o.Verdict, fmt.Sprintf("member %d of %d, %s = %v: %v (%d compared)", member+1, len(rows), name,
					rows[member][0], o, found.Compared)
			}
		}
	}
	return Right, ""
}
