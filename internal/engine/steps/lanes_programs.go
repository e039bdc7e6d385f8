package steps

import (
	"slices"
	"strconv"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers/lanes"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/vm"
)

// laneSteady are the vectors that stay the same from step to step.
var laneSteady = []vec.Vector{vec.P, vec.D, vec.M, vec.C, vec.E}

// NewLanes returns what makes steps of the problem by form side by side. values is the kit of runs, and slopes that of
// transposes, of as many objectives at once as it has lanes, or of tangents; nil for values alone. like is what makes
// the steps of another member of the method, with which the result shares params and cotangents; nil for none. The
// result is nil where there is no such thing, as for large models.
func NewLanes(p *compiled.Task, values, slopes *compiled.Kit, form *lanes.Form, like *Lanes) *Lanes {
	pull, push := slopes, slopes
	if slopes != nil && slopes.Pull == nil {
		pull = nil
	} else {
		push = nil
	}
	rates := values.Value.Get(tapec.PartRates)
	size := p.Size()
	if size.N > lanes.States || !rates.Covers(tapec.Primal, vec.K, size.N+size.Q) || !inLanes(pull, push) {
		return nil
	}
	if len(p.Peaks) > 0 {
		form.Peaks, form.Inside = true, true
	}
	l := &Lanes{size: size, rows: lanes.NewRows(form, size)}
	l.rows.Timed = slices.ContainsFunc(rates.Tape.Inputs, func(in tape.Input) bool {
		return tapec.MustName(in.Name).Role == tapec.Time
	})
	for v, n := range map[vec.Vector]int{
		vec.P: values.Layout.NP, vec.D: values.Layout.ND, vec.M: values.Layout.NM, vec.C: values.Layout.NC,
		vec.E: values.Layout.NE,
	} {
		l.steady[v] = make([]float64, max(n, 1)*lanes.Count)
	}
	if like != nil {
		l.steady, l.sums, l.bars, l.ends, l.sown = like.steady, like.sums, like.bars, like.ends, like.sown
		l.dots, l.steadyDots = like.dots, like.steadyDots
	}
	l.write = func(exchanges []float64) bool {
		way := laneWay{exchanges: exchanges}
		var tapes laneTapes
		if form.Solved == nil {
			tapes = l.explicit(values, pull, push, form)
		} else {
			tapes = l.solved(values, pull, push, form, exchanges)
		}
		var ok bool
		if tapes.step == nil {
			return false
		}
		if way.step, ok = l.compile(tapes.step, tapes.stepFind); !ok {
			return false
		}
		if push != nil {
			l.pushed(push)
			if way.push, ok = l.compile(tapes.push, tapes.pushFind); !ok {
				return false
			}
		}
		if pull != nil {
			if !l.summed(tapes.back, tapes.sums, pull.Lanes) {
				return false
			}
			if way.back, ok = l.compile(tapes.back, tapes.backFind); !ok {
				return false
			}
			if tapes.ends != nil {
				if way.ends, ok = l.compile(tapes.ends, tapes.endsFind); !ok {
					return false
				}
			}
			if tapes.seeded != nil {
				if way.seeded, ok = l.compile(tapes.seeded, tapes.seededFind); !ok {
					return false
				}
			}
		}
		l.ways = append(l.ways, way)
		return true
	}
	var first []float64
	if form.Solved != nil { // no exchanges
		l.other = make([]float64, l.rows.Block())
		for k := range form.Matrix.Analysis.Exchanges() {
			first = append(first, float64(k))
		}
	}
	if !l.write(first) || !l.extends(values, rates.Tape, form) {
		return nil
	}
	if guards := values.Value.Get(tapec.PartGuards); guards != nil && form.Solved == nil && form.Rows == form.Stages {
		l.guards(values, guards.Tape, rates.Tape, form)
	}
	if form.Peaks {
		l.peaks(values, p.Peaks, rates.Tape, form)
	}
	return l
}

// inLanes reports whether the rates' transposes and tangents, each nil for none, can run in lanes.
func inLanes(pull, push *compiled.Kit) bool {
	if pull != nil && (pull.Pull.Get(tapec.PartRates) == nil || pull.Plan.Record > 0 || pull.Shared != nil) {
		return false
	}
	return push == nil || push.Push.Get(tapec.PartRates) != nil
}

// pushed makes room for what tangents read and write, unless there is.
func (l *Lanes) pushed(push *compiled.Kit) {
	if l.made != nil {
		return
	}
	l.made = make([]float64, (1+l.size.N+l.size.Q)*lanes.Count)
	for range push.Lanes - len(l.dots) { // none of those that are shared with the other member
		var steady [vec.Count][]float64
		for v, n := range map[vec.Vector]int{
			vec.P: push.Plan.Width, vec.D: push.Layout.ND, vec.C: push.Layout.NC, vec.E: push.Layout.NE,
		} {
			steady[v] = make([]float64, max(n, 1)*lanes.Count)
		}
		l.dots, l.steadyDots = append(l.dots, make([]float64, len(l.made))), append(l.steadyDots, steady)
	}
}

// extends compiles what makes the rows of the dense output, if there are any, and reports whether it could.
func (l *Lanes) extends(values *compiled.Kit, rates *tape.Tape, form *lanes.Form) (ok bool) {
	if l.rows.Extra == 0 {
		return true
	}
	m := newMaker(values.Layout, rates, form.Arithmetic, true)
	m.from = 0
	t := m.extension()
	if tape.EveryLane(t) {
		l.extend, ok = l.compile(t, m.find(values.Layout.Find))
	}
	return ok
}

// guards compiles what reads the guards, if they differ from lane to lane. A block has its inputs in their order.
func (l *Lanes) guards(values *compiled.Kit, guards, rates *tape.Tape, form *lanes.Form) {
	m := newMaker(values.Layout, rates, form.Arithmetic, true)
	t := m.reading(guards)
	if !tape.EveryLane(t) || compiled.Elements(t, lanes.Count) > lanes.Count*wholeWork {
		return
	}
	if c, ok := l.compile(t, m.find(values.Layout.Find)); ok {
		l.reads, l.read = c, make([]float64, m.made*lanes.Count)
	}
}

// peaks compiles what reads the samples of largest values, if all of it differs from lane to lane.
func (l *Lanes) peaks(values *compiled.Kit, peaks []int, rates *tape.Tape, form *lanes.Form) {
	if len(form.Samples) == 0 {
		return
	}
	m := newMaker(values.Layout, rates, form.Arithmetic, true)
	m.block = &l.rows
	tapes := [2]*tape.Tape{values.Value.Get(tapec.PartPeaks).Tape, values.SlopesTape()}
	t := m.sampling(tapes[0], tapes[1])
	if !tape.EveryLane(t) || compiled.Elements(t, lanes.Count) > lanes.Count*wholeWork {
		return
	}
	if c, ok := l.compile(t, m.find(values.Layout.Find)); ok {
		l.sampling.read, l.sampling.made = c, make([]float64, m.made*lanes.Count)
		heights := 0
		for _, o := range tapes[0].Outputs {
			heights += tapes[0].Shape(o.Value).Size()
		}
		each := (m.made - 3*heights) / len(form.Samples)
		at := values.PeaksAt(peaks)
		for k := range at {
			for i := range form.Samples {
				for _, row := range at[k] {
					if row >= 0 {
						row += i * each
					}
					l.sampling.at = append(l.sampling.at, row)
				}
			}
		}
		for k := range 3 {
			for _, row := range at[0] {
				l.sampling.at = append(l.sampling.at, len(form.Samples)*each+k*heights+row)
			}
		}
		l.sampling.rows = make([]float64, len(l.sampling.at)*lanes.Count)
	}
}

// laneTapes are the tapes of a step and of its transpose, and where their names lie. There are none where they would be
// too large.
type laneTapes struct {
	step, back, push, ends, seeded                     *tape.Tape
	stepFind, backFind, pushFind, endsFind, seededFind compiled.Finder
	sums                                               []string
}

// explicit returns the tapes of methods with explicit stages.
func (l *Lanes) explicit(values, pull, push *compiled.Kit, form *lanes.Form) (t laneTapes) {
	rates := values.Value.Get(tapec.PartRates).Tape
	m := newMaker(values.Layout, rates, form.Arithmetic, true)
	if !form.FSAL {
		m.from = 0
	}
	m.tol, m.abs, m.errors = form.Tolerance, l.rows.Abs, form.Errors
	step := m.forward()
	if !tape.EveryLane(step) || !gains(step) {
		return t
	}
	if push != nil {
		d := newMovedMaker(push.Layout, rates, push.Push.Get(tapec.PartRates).Tape, form.Arithmetic, true)
		t.push = d.tangents(&vec.Part{Vec: vec.Step, Offset: l.rows.Mask, Len: 1})
		if !tape.EveryLane(t.push) || compiled.Elements(t.push, lanes.Count) > lanes.Count*movedWork {
			return t
		}
		t.pushFind = d.find(push.Moved)
	}
	if pull != nil {
		back := newMaker(pull.Layout, rates, form.Arithmetic, true)
		mask := vec.Part{Vec: vec.Step, Offset: l.rows.Mask, Len: 1}
		back.mask = back.input("mask", nil, &mask)
		if curl := pull.Pull.Get(tapec.PartJacobian); curl != nil {
			back.curl = curl.Tape
		}
		t.back, t.sums = back.backward(pull.Pull.Get(tapec.PartRates).Tape, func(string) bool { return false })
		if !tape.EveryLane(t.back) {
			return t
		}
		t.backFind = back.find(pull.Layout.Find)
		l.placed(back.laned)
		if form.Moves {
			ends := newMaker(pull.Layout, rates, form.Arithmetic, true)
			ends.moving, ends.curl, ends.sown = true, back.curl, l.within(form)
			t.ends, _ = ends.backward(pull.Pull.Get(tapec.PartRates).Tape, func(string) bool { return false })
			t.endsFind = ends.find(pull.Layout.Find)
		}
		if form.Inside {
			seeded := newMaker(pull.Layout, rates, form.Arithmetic, true)
			seeded.mask, seeded.curl, seeded.sown = seeded.input("mask", nil, &mask), back.curl, l.within(form)
			t.seeded, _ = seeded.backward(pull.Pull.Get(tapec.PartRates).Tape, func(string) bool { return false })
			t.seededFind = seeded.find(pull.Layout.Find)
		}
	}
	t.step, t.stepFind = step, m.find(values.Layout.Find)
	return t
}

// solved returns the tapes of methods that solve equations, with these exchanges of rows.
func (l *Lanes) solved(values, pull, push *compiled.Kit, form *lanes.Form, exchanges []float64) (t laneTapes) {
	straight := form.Matrix.Analysis.Straight(exchanges)
	rates, jacobian := values.Value.Get(tapec.PartRates).Tape, values.Value.Get(tapec.PartJacobian)
	if jacobian == nil {
		return t
	}
	own := &solvedLanes{rows: &l.rows, number: len(l.ways) + 1, fixed: map[int]float64{}}
	m := newSolvedMaker(values.Layout, rates, jacobian.Tape, form.Solved, form.Matrix, straight, own)
	m.tol, m.abs, m.errors = form.Tolerance, l.rows.Abs, form.Errors
	step, _ := m.forward()
	if !tape.EveryLane(step) || !gains(step) {
		return t
	}
	if push != nil {
		d := newSolvedMaker(push.Layout, rates, jacobian.Tape, form.Solved, form.Matrix, straight, own)
		curl := push.Push.Get(tapec.PartJacobian)
		if curl == nil {
			curl = &compiled.Program{}
		}
		t.push = d.tangents(push.Push.Get(tapec.PartRates).Tape, curl.Tape)
		if !tape.EveryLane(t.push) || compiled.Elements(t.push, lanes.Count) > lanes.Count*movedWork {
			return t
		}
		t.pushFind = d.find(push.Moved)
	}
	if pull != nil {
		curl := pull.Pull.Get(tapec.PartJacobian)
		if curl == nil {
			curl = &compiled.Program{}
		}
		back := newSolvedMaker(pull.Layout, rates, jacobian.Tape, form.Solved, form.Matrix, straight, own)
		never := func(string) bool { return false }
		t.back, t.sums = back.backward(pull.Pull.Get(tapec.PartRates).Tape, curl.Tape, never)
		if !tape.EveryLane(t.back) {
			return t
		}
		t.backFind = back.find(pull.Layout.Find)
		l.placed(back.laned)
		if form.Inside {
			seeded := newSolvedMaker(pull.Layout, rates, jacobian.Tape, form.Solved, form.Matrix, straight, own)
			seeded.sown = l.within(form)
			t.seeded, _ = seeded.backward(pull.Pull.Get(tapec.PartRates).Tape, curl.Tape, never)
			t.seededFind = seeded.find(pull.Layout.Find)
		}
	}
	t.step, t.stepFind = step, m.find(values.Layout.Find)
	return t
}

// placed says where the cotangents that are not those of every transpose begin: after the first rows of bars.
func (l *Lanes) placed(rows int) {
	if l.ends == 0 {
		l.ends = rows * lanes.Count
		l.sown = l.ends + (1+len(l.rows.Nodes))*lanes.Count
	}
}

// within says where transposes have what was read within steps; nil if nothing is.
func (l *Lanes) within(form *lanes.Form) *sownRows {
	if !form.Inside {
		return nil
	}
	return &sownRows{&l.rows, l.sown / lanes.Count}
}

// summed gives the accumulators of a transpose, for so many objectives, their rows, unless they have them. It reports
// whether they are those that bars are shared with.
func (l *Lanes) summed(t *tape.Tape, names []string, objectives int) bool {
	if l.made != nil {
		return true
	}
	at := l.size.N + l.size.Q + 1
	var sums []laneSum
	for _, name := range names {
		v, _ := t.Output(tapec.Made.Called(name).As(tapec.Cotangent).String())
		s := laneSum{name, at, t.Shape(v).Size()}
		at += s.n
		sums = append(sums, s)
	}
	l.made = make([]float64, (at-l.size.Q+1)*lanes.Count)
	l.lengths = make([]float64, objectives*lanes.Count)
	size := l.sown
	if l.rows.Sown > 0 {
		size += (3 + (1+l.rows.Sown)*l.size.N) * lanes.Count
	}
	if l.bars != nil {
		for k, bar := range l.bars { // those of the other member, too
			l.bars[k] = append(bar, make([]float64, max(0, size-len(bar)))...)
		}
		return slices.Equal(l.sums, sums)
	}
	l.sums = sums
	for range objectives {
		bar := make([]float64, size)
		l.bars = append(l.bars, bar)
		for lane := range lanes.Count {
			l.unsow(bar, lane)
		}
	}
	return true
}

// gains reports whether steps by t are faster in lanes: whether it is no longer than laneWork, and takes no more than
// two thirds of its time in loops.
func gains(t *tape.Tape) bool {
	elements, all, loops := 0, 0, 0
	for i := range t.Instrs {
		n := t.Instrs[i].Shape.Size()
		work := n * vm.Weight(t.Instrs[i].Op)
		elements, all = elements+n, all+work
		if n > laneArray {
			loops += work
		}
	}
	return elements <= laneWork && 3*loops <= 2*all
}

// compile compiles t.
func (l *Lanes) compile(t *tape.Tape, find compiled.Finder) (c laneCall, ok bool) {
	type link struct {
		output, slope bool // it is a cotangent or a tangent
		vec           vec.Vector
	}
	var links []link
	put := func(name string, output bool) (at vm.Place, ok bool) {
		n, p, err := compiled.FindPlace(name, find)
		if err != nil {
			return at, false
		}
		k := link{output, n.Variation != tapec.Primal, p.Vec}
		i := slices.Index(links, k)
		if i < 0 {
			i = len(links)
			links = append(links, k)
		}
		return vm.Place{Vector: i, Offset: p.Offset * lanes.Count}, true
	}
	ins, outs := make([]vm.Place, len(t.Inputs)), make([]vm.Place, len(t.Outputs))
	for i, in := range t.Inputs {
		if ins[i], ok = put(in.Name, false); !ok {
			return c, false
		}
	}
	for i, out := range t.Outputs {
		if outs[i], ok = put(out.Name, true); !ok {
			return c, false
		}
	}
	code, err := vm.Compile(t, vm.Options{Lanes: lanes.Count, Inputs: ins, Outputs: outs})
	if err != nil {
		return c, false // steps one by one do as well
	}
	c = laneCall{machine: code.NewMachine(), in: -1, made: -1, bar: -1}
	for v := range c.steady {
		c.steady[v] = -1
	}
	for i, k := range links {
		switch {
		case k.vec == vec.Step && !k.slope:
			c.in = i
		case k.vec == vec.Step:
			c.bar = i
		case k.vec == vec.Made && (!k.slope || l.dots != nil):
			c.made = i
		case k.vec == vec.Made:
			c.machine.SetVector(i, l.made)
		case k.slope && l.steady[k.vec] != nil && !k.output:
			c.steady[k.vec] = i
		case l.steady[k.vec] != nil && !k.output:
			c.machine.SetVector(i, l.steady[k.vec])
		default:
			return c, false
		}
	}
	return c, true
}

// measured adds the norm of the error to the outputs of a step: that of solvers.Tolerance.Norm, in root mean square.
// Where a scale is not finite, it is NaN.
func (m *stepMaker) measured(began, ends, errors map[string]tape.Value) {
	var square [8]tape.Value
	for i := range square {
		square[i] = m.zero
	}
	n, most := 0, m.zero
	for _, r := range m.rows {
		if r.state == "" {
			continue
		}
		for i := range r.Len {
			element := func(x tape.Value) tape.Value {
				if len(r.shape) == 0 {
					return x
				}
				return m.b.Element(m.b.Reshape(x, tape.Shape{r.Len}), i)
			}
			y0, y1 := m.b.Op1(tape.Abs, element(began[r.name])), m.b.Op1(tape.Abs, element(ends[r.name]))
			abs := m.b.Scalar(m.tol.AbsOf(n))
			if m.abs > 0 {
				abs = m.input("abs"+strconv.Itoa(n), nil, &vec.Part{Vec: vec.Step, Offset: m.abs + n, Len: 1})
			}
			sc := m.b.Op3(tape.FMA, m.b.Scalar(m.tol.RelOf(n)), m.b.Op2(tape.Max, y0, y1), abs)
			x := m.b.Div(m.b.Op1(tape.Abs, element(errors[r.name])), sc)
			x = m.b.Add(x, m.b.Sub(sc, sc))
			if square[n&7] == m.zero {
				square[n&7] = m.b.Mul(x, x)
			} else {
				square[n&7] = m.b.Op3(tape.FMA, x, x, square[n&7])
			}
			most = m.b.Op2(tape.Max, most, x)
			n++
		}
	}
	add, s := m.b.Add, square
	tree := add(add(add(s[0], s[4]), add(s[2], s[6])), add(add(s[1], s[5]), add(s[3], s[7])))
	norm := m.b.Op1(tape.Sqrt, m.b.Div(tree, m.b.Scalar(float64(n))))
	if limit := m.tol.Most; limit > 0 && float64(n) >= limit*limit { // with fewer states it is no more than the mean
		norm = m.b.Op2(tape.Max, norm, m.b.Div(most, m.b.Scalar(limit)))
	}
	m.output(tapec.Primal, "norm", norm, 1, nil)
}

// combined returns the estimate of a pair of sums, as Tableau.E3 says: |e5|·(|e5|/√(e5² + 0.01 e3²)), in ratios.
func (m *stepMaker) combined(e5, e3 tape.Value) tape.Value {
	size := m.b.Op1(tape.Abs, e5)
	ratio := m.b.Div(m.b.Op1(tape.Abs, e3), size)
	root := m.b.Op1(tape.Sqrt, m.b.Op3(tape.FMA, m.b.Mul(m.b.Scalar(0.01), ratio), ratio, m.b.Scalar(1)))
	return m.b.Select(e5, m.b.Div(size, root), e5)
}
