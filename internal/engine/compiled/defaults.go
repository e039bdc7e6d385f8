package compiled

import (
	"slices"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// A param whose default uses others follows them. Whatever moves params must go along these links, and it
// does so in this file only: forwards with values (follow), and backwards with derivatives (Chain).

// Follow evaluates the defaults that use other params, in the order of their dependencies, at p, which
// holds all params. It calls set with the index in p and the value of every element that no override
// cuts from its default. set may change p.
func Follow[T float64 | complex128](pt *Point, p []T, set func(i int, x T)) {
	m := pt.model
	for i := range m.Compiled.Defaults {
		d := &m.Compiled.Defaults[i]
		if !usesOthers(d) || pt.cutP[d.Param] {
			continue
		}
		at, value := m.Param(d.Param.Name), evaluateDefault(m, d, p)
		for k := range at.Len {
			if pt.Follows(d.Param, k) {
				set(at.Offset+k, value[min(k, len(value)-1)])
			}
		}
	}
}

// usesOthers reports whether a default uses other params. One that does not is a constant.
func usesOthers(d *tapec.Default) bool { return len(d.Tape.Inputs) > 0 }

// evaluateDefault evaluates the default of a param at p.
func evaluateDefault[T float64 | complex128](m *Model, d *tapec.Default, p []T) []T {
	e := tape.NewEvaluator[T](d.Tape)
	for _, in := range d.Tape.Inputs {
		copy(e.Input(in.Name), p[m.Layout.Part(tapec.MustName(in.Name)).Offset:])
	}
	e.Run()
	return e.Output(tapec.Param.Called(d.Param.Name).String())
}

// Active lists the params that must be differentiated for the derivatives by variables: those among
// the variables in their order, then the params that follow one of these, then the totals of the
// experiments.
func (pt *Point) Active(variables []Variable) []string {
	var list []string
	on := map[string]bool{}
	add := func(name string) {
		if !on[name] {
			on[name] = true
			list = append(list, name)
		}
	}
	for _, v := range variables {
		if !v.Initial {
			add(v.Name)
		}
	}
	m := pt.model
	for i := range m.Compiled.Defaults {
		d := &m.Compiled.Defaults[i]
		if pt.cutP[d.Param] {
			continue
		}
		for _, in := range d.Tape.Inputs {
			if on[tapec.MustName(in.Name).Of] {
				add(d.Param.Name)
			}
		}
	}
	return append(list, Names(m.Checked.Totals)...)
}

// Chain applies the chain rule along the links of defaults, from the params that follow to those that
// they use. It makes total derivatives of partial ones. A Chain belongs to one goroutine.
type Chain struct {
	point     *Point
	followers []follower
}

// follower is the transpose of one default, with its tangent in a chain of second derivatives.
type follower struct {
	eval   *tape.Evaluator[float64]
	params []used   // inputs: their places among all params
	name   string   // of the param that follows, on the tape
	from   vec.Part // where it stands among the active params
	to     []used   // inputs that are active: their places among the active params
	cut    []bool   // elements that follow nothing; nil for none
}

// used is a param that a default uses: its name on the tape, and a place of it.
type used struct {
	name string
	at   vec.Part
}

// Chain returns the chain of the problem's active params. With second it can also take tangents along
// (PullPush).
func (p *Task) Chain(second bool) (*Chain, error) {
	m, pt, columns := p.Model, p.Point, p.Plan.Columns
	c := &Chain{point: pt}
	for _, d := range slices.Backward(m.Compiled.Defaults) { // first what nothing else uses
		name := tapec.Param.Called(d.Param.Name).String()
		from, active := columns[d.Param.Name]
		l := follower{name: name, from: from, cut: pt.cutE[d.Param]}
		var wrt []string
		for _, in := range d.Tape.Inputs {
			if to, ok := columns[tapec.MustName(in.Name).Of]; ok {
				wrt = append(wrt, in.Name)
				l.to = append(l.to, used{in.Name, to})
			}
		}
		if pt.cutP[d.Param] || !active || len(wrt) == 0 {
			continue
		}
		transpose, err := tapec.VJP(d.Tape, []string{name}, wrt)
		if second {
			transpose, err = tapec.SecondVJP(d.Tape, []string{name}, wrt, false)
		}
		if err != nil {
			return nil, err
		}
		for _, in := range transpose.Inputs {
			if n := tapec.MustName(in.Name); n.Variation == tapec.Primal {
				l.params = append(l.params, used{in.Name, m.Layout.Part(n)})
			}
		}
		l.eval = tape.NewEvaluator[float64](transpose)
		c.followers = append(c.followers, l)
	}
	return c, nil
}

// Empty reports whether no param follows others: partial derivatives are total ones.
func (c *Chain) Empty() bool { return len(c.followers) == 0 }

// Pull makes total derivatives of the partial ones in grad: rows rows by the active params, which
// begin stride apart.
func (c *Chain) Pull(grad []float64, rows, stride int) {
	for i := range c.followers {
		l := &c.followers[i]
		l.at(c.point)
		for r := range rows {
			row := grad[r*stride:]
			l.seed(tapec.Cotangent, row)
			l.eval.Run()
			l.add(tapec.Cotangent, row)
		}
	}
}

// PullPush is Pull for one row bar and its tangent barDot, where the active params move by dot. All
// have the length of a row of the active params.
func (c *Chain) PullPush(dot, bar, barDot []float64) {
	for i := range c.followers {
		l := &c.followers[i]
		l.at(c.point)
		l.seed(tapec.Cotangent, bar)
		l.seed(tapec.CotangentTangent, barDot)
		for _, t := range l.to {
			copy(l.eval.Input(tapec.Tangent.Of(t.name)), dot[t.at.Offset:t.at.Offset+t.at.Len])
		}
		l.eval.Run()
		l.add(tapec.Cotangent, bar)
		l.add(tapec.CotangentTangent, barDot)
	}
}

// at reads the values of params.
func (l *follower) at(pt *Point) {
	for _, p := range l.params {
		copy(l.eval.Input(p.name), pt.P[p.at.Offset:p.at.Offset+p.at.Len])
	}
}

// seed reads the derivative by the param that follows.
func (l *follower) seed(v tapec.Variation, row []float64) {
	to := l.eval.Input(v.Of(l.name))
	copy(to, row[l.from.Offset:l.from.Offset+l.from.Len])
	for k, cut := range l.cut {
		if cut {
			to[k] = 0
		}
	}
}

// add adds to the derivatives by the params that the default uses.
func (l *follower) add(v tapec.Variation, row []float64) {
	for _, t := range l.to {
		for k, x := range l.eval.Output(v.Of(t.name)) {
			row[t.at.Offset+k] += x
		}
	}
}
