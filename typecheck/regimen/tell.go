package regimen

import (
	"fmt"

	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/typecheck/terms"
)

// tell says in short what the records give.
func (g *giver) tell() *model.Regimen {
	r := &model.Regimen{Table: g.table.Name, Resets: len(g.course.Resets)}
	last := g.end()
	for _, d := range g.course.Doses {
		x := model.Given{
			Time: d.Time, Last: d.Time, Amount: d.Amount, Doses: 1, Infusion: d.Form != records.Bolus,
			Steady: d.Steady > 0,
		}
		for k := 1; k <= d.More && d.Time+float64(float64(k)*d.Period) <= last; k++ {
			x.Last, x.Doses = d.Time+float64(float64(k)*d.Period), k+1
		}
		for _, l := range g.table.Lines {
			if l.Rows[d.Row] {
				x.Into = append(x.Into, l.Target.Span.Text())
			}
		}
		r.Given = append(r.Given, x)
	}
	return r
}

// end is the end of the run, where that is known when the model is compiled.
func (g *giver) end() float64 {
	if to, ok := g.model.To.(*model.Const); ok && !terms.IsBad(to) {
		return to.Data[0]
	}
	return lateDoses
}

// reached asserts that the run reaches all records, where its bounds are not known when the model is compiled.
func (g *giver) reached() {
	_, ok1 := g.model.From.(*model.Const)
	_, ok2 := g.model.To.(*model.Const)
	if ok1 && ok2 || terms.IsBad(g.model.From) || terms.IsBad(g.model.To) {
		return
	}
	first, last := -1, -1
	see := func(i int) {
		if first < 0 || g.course.Times[i] < g.course.Times[first] {
			first = i
		}
		if last < 0 || g.course.Times[i] > g.course.Times[last] {
			last = i
		}
	}
	for _, i := range g.course.Resets {
		see(i)
	}
	for _, d := range g.course.Doses {
		see(d.Row)
	}
	at := func(row int) model.Expr { return terms.Number(g.course.Times[row], g.unitOfTime(), g.at()) }
	g.demandOf(nil, terms.Not(g.less(at(first), g.model.From), true), g.beyond(first, "start"))
	g.demandOf(nil, terms.Not(g.less(g.model.To, at(last)), true), g.beyond(last, "end"))
}

// beyond is what is wrong with a record that lies before the start or after the end of the run.
func (g *giver) beyond(row int, side string) string {
	return fmt.Sprintf("%srow %d of %q: a record at %v, outside of the run, whose %s is a param",
		g.table.In, row+1, g.table.Name, g.course.Times[row], side)
}
