package analysis

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/posterior"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
)

// sample draws from posteriors.
var sample = &Row{
	Name: "sample", Block: "sample",
	Help: "Draw from the posterior: what is possible, by the data and the priors.",
	Flags: []Flag{
		{Name: "chains", Key: "chains", Placeholder: "N", Help: "How many chains."},
		{Name: "draws", Key: "draws", Placeholder: "N", Help: "How many draws of each chain."},
		{Name: "warmup", Key: "warmup", Placeholder: "N", Help: "Iterations of each chain before its draws."},
		{Name: "seed", Key: "seed", Placeholder: "N", Help: "Which draws."},
		{Name: "draw", Kind: Many, Placeholder: "WHAT[=FILE]", Help: "Draw {samplepictures}. May be repeated."},
	},
	Examples: []Example{
		{"odes sample model.ode", "means, standard deviations and quantiles of the params, and what they are worth"},
		{"odes sample model.ode -o draws.csv", "the draws, for ArviZ and other programs that read Stan's"},
		{"odes sample model.ode --draw trace --draw pairs=p.svg", "with pictures"},
		{"odes sample model.ode --draws 4000 --format json", "for programs"},
	},
	Pictures: samplePictures,
	Draw:     "draw",
	Keeps:    true,
	Run: func(ctx context.Context, m *odes.Model, o odes.Options) (*Result, error) {
		r, err := posterior.Run(ctx, m, posterior.Options{Options: o})
		if err != nil {
			return nil, err
		}
		return &Result{
			Status: r.Status, Warnings: r.Warnings, Tables: sampleTables(r, true), Of: r,
			Write: func(f *report.Format, w io.Writer, h report.Heading, opts report.TableOptions) error {
				switch f.Name {
				case "json":
					return sampleJSON(w, h, r)
				case "csv":
					return drawsCSV(w, h, r)
				case "table":
					return f.Tables(w, h, sampleTables(r, false), opts)
				}
				return f.Tables(w, h, sampleTables(r, true), opts)
			},
		}, nil
	},
}

// sampleTables returns what was drawn as tables: for people without the draws, and with what is of interest alone.
func sampleTables(r *posterior.Result, programs bool) *report.Tables {
	s := &r.Settings
	t := &report.Tables{Facts: []report.Fact{
		{Name: "method", Text: s.Method},
	}}
	fact := func(name string, x float64) {
		f := report.Fact{Name: name, Value: x}
		if !programs && x == math.Floor(x) {
			f.Text = strconv.FormatFloat(x, 'f', -1, 64)
		}
		t.Facts = append(t.Facts, f)
	}
	fact("draws", float64(r.Draws()))
	fact("chains", float64(s.Chains))
	fact("gradients", float64(r.Gradients))
	if s.Method == "nuts" {
		fact("divergences", float64(r.Divergences))
	} else {
		fact("Pareto k", r.K)
	}
	if r.Trust != nil {
		fact("solver: sd of log weights", r.Trust.Sd)
	}
	params := report.Table{Name: "params"}
	columns := []report.TableColumn{
		{Name: "mean"},
		{Name: "sd"},
		{Name: "MCSE"},
		{Name: "5 %"},
		{Name: "median"},
		{Name: "95 %"},
		{Name: "R-hat"},
		{Name: "ESS"},
		{Name: "ESS of tails"},
	}
	rounded := math.Round
	if programs {
		rounded = func(x float64) float64 { return x }
	}
	for i := range r.Params {
		p := &r.Params[i]
		label := p.Text()
		if p.Unit != "" {
			label += " [" + p.Unit + "]"
		}
		params.Labels = append(params.Labels, label)
		for k, x := range []float64{
			p.Mean, p.Sd, p.MCSEMean, p.Q5, p.Median, p.Q95, p.RHat, rounded(p.BulkESS), rounded(p.TailESS),
		} {
			columns[k].Values = append(columns[k].Values, x)
		}
	}
	params.Columns = columns
	t.Tables = append(t.Tables, params)
	if programs || len(r.Modes) > 1 {
		t.Tables = append(t.Tables, modesTable(r))
	}
	if programs {
		t.Tables = append(t.Tables, drawsTable(r))
	}
	return t
}

// modesTable lists the modes.
func modesTable(r *posterior.Result) report.Table {
	t := report.Table{Name: "modes", Columns: []report.TableColumn{
		{Name: "weight"}, {Name: "draws"},
	}}
	for i := range r.Params {
		t.Columns = append(t.Columns, report.TableColumn{Name: r.Params[i].Text()})
	}
	for i := range r.Modes {
		m := &r.Modes[i]
		t.Labels = append(t.Labels, strconv.Itoa(i+1))
		for k, x := range append([]float64{m.Weight, float64(m.Draws)}, m.At...) {
			t.Columns[k].Values = append(t.Columns[k].Values, x)
		}
	}
	return t
}

// statistics are the columns of draws that are not params, in the order and by the names of CmdStan, and then the
// number of the chain.
func statistics(c *posterior.Chain, chain, k int) []float64 {
	divergent := 0.0
	if c.Divergent[k] {
		divergent = 1
	}
	return []float64{
		c.LogP[k], c.Accept[k], c.Step[k], float64(c.Depth[k]), float64(c.Leapfrogs[k]), divergent, c.Energy[k],
		float64(chain + 1),
	}
}

var statisticNames = []string{
	"lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__", "chain__",
}

// drawsTable has a row for each draw.
func drawsTable(r *posterior.Result) report.Table {
	t := report.Table{Name: "draws"}
	for _, name := range statisticNames {
		t.Columns = append(t.Columns, report.TableColumn{Name: name})
	}
	for i := range r.Params {
		t.Columns = append(t.Columns, report.TableColumn{Name: r.Params[i].Text(), Unit: r.Params[i].Unit})
	}
	for c := range r.Chains {
		chain := &r.Chains[c]
		for k := range chain.Draws() {
			for i, x := range statistics(chain, c, k) {
				t.Columns[i].Values = append(t.Columns[i].Values, x)
			}
		}
		for i := range r.Params {
			x := &t.Columns[len(statisticNames)+i]
			x.Values = append(x.Values, chain.Values[i]...)
		}
	}
	return t
}

// stanName writes a name as CmdStan does: x.1.2 for x[1,2].
func stanName(p *posterior.Param) string {
	name := p.Name
	for _, i := range p.Index {
		name += "." + strconv.Itoa(i)
	}
	return name
}

// drawsCSV writes draws as CmdStan writes them, all chains one after the other.
func drawsCSV(to io.Writer, h report.Heading, r *posterior.Result) error {
	w, s := bufio.NewWriterSize(to, 1<<16), &r.Settings
	fmt.Fprintf(w,
		"# model = %s\n# method = sample (Default)\n#   sample\n#     num_samples = %d\n#     num_warmup = %d\n"+
			"#     save_warmup = 0\n#     thin = 1\n# id = 1\n# random\n#   seed = %d\n",
		strings.Join(strings.Fields(h.Model), " "), r.Draws(), s.Warmup, s.Seed)
	names := append([]string{}, statisticNames...)
	for i := range r.Params {
		names = append(names, stanName(&r.Params[i]))
	}
	fmt.Fprintln(w, strings.Join(names, ","))
	fmt.Fprint(w, "# Adaptation terminated\n")
	var line []byte
	for c := range r.Chains {
		chain := &r.Chains[c]
		for k := range chain.Draws() {
			line = line[:0]
			for i, x := range statistics(chain, c, k) {
				if i > 0 {
					line = append(line, ',')
				}
				line = strconv.AppendFloat(line, x, 'g', -1, 64)
			}
			for i := range r.Params {
				line = append(line, ',')
				line = strconv.AppendFloat(line, chain.Values[i][k], 'g', -1, 64)
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// number is a number in JSON; null where it is none.
type number float64

func (x number) MarshalJSON() ([]byte, error) {
	if v := float64(x); v-v != 0 {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(x), 'g', -1, 64), nil
}

// sampleJSON writes what draws are worth, without the draws.
func sampleJSON(w io.Writer, h report.Heading, r *posterior.Result) error {
	type errors struct {
		Mean   number `json:"mean"`
		Sd     number `json:"sd"`
		Q5     number `json:"q5"`
		Median number `json:"q50"`
		Q95    number `json:"q95"`
	}
	type param struct {
		Name   string `json:"name"`
		Index  any    `json:"index"`
		Unit   string `json:"unit,omitempty"`
		Mean   number `json:"mean"`
		Sd     number `json:"sd"`
		Q5     number `json:"q5"`
		Median number `json:"q50"`
		Q95    number `json:"q95"`
		MCSE   errors `json:"mcse"`
		RHat   number `json:"rhat"`
		Bulk   number `json:"ess_bulk"`
		Tail   number `json:"ess_tail"`
	}
	type mode struct {
		At     map[string]number `json:"at"`
		Weight number            `json:"weight"`
		Chains []int             `json:"chains"`
		Draws  int               `json:"draws"`
		Mean   map[string]number `json:"mean"`
		Sd     map[string]number `json:"sd"`
	}
	type trust struct {
		Draws  int    `json:"draws"`
		Failed int    `json:"failed"`
		Factor number `json:"factor"`
		Sd     number `json:"sd_log_weight"`
		Shift  number `json:"shift"`
	}
	type warning struct {
		Level   string `json:"level"`
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	s := &r.Settings
	out := struct {
		Schema      int            `json:"schema"`
		Status      string         `json:"status"`
		Model       string         `json:"model"`
		File        string         `json:"file"`
		Of          string         `json:"of"`
		Method      string         `json:"method"`
		Metric      string         `json:"metric"`
		Chains      int            `json:"chains"`
		Draws       int            `json:"draws"`
		Warmup      int            `json:"warmup"`
		Seed        uint64         `json:"seed"`
		Params      []param        `json:"params"`
		Divergences int            `json:"divergences"`
		Full        int            `json:"at_depth"`
		Gradients   int            `json:"gradients"`
		Rejections  map[string]int `json:"rejections"`
		EBFMI       []number       `json:"e_bfmi"`
		K           number         `json:"pareto_k"`
		Modes       []mode         `json:"modes"`
		Trust       *trust         `json:"trust"`
		Seconds     number         `json:"seconds"`
		Warnings    []warning      `json:"warnings"`
	}{
		1, r.Status, h.Model, h.File, s.Objective, s.Method, s.Metric, s.Chains, s.Draws, s.Warmup, s.Seed,
		[]param{},
		r.Divergences, r.Full, r.Gradients,
		map[string]int{},
		[]number{},
		number(r.K),
		[]mode{},
		nil, number(r.Seconds),
		[]warning{},
	}
	for i := range r.Params {
		p := &r.Params[i]
		var index any
		switch len(p.Index) {
		case 0:
		case 1:
			index = p.Index[0]
		default:
			index = p.Index
		}
		out.Params = append(out.Params, param{
			p.Name, index, p.Unit, number(p.Mean), number(p.Sd), number(p.Q5), number(p.Median), number(p.Q95),
			errors{
				number(p.MCSEMean), number(p.MCSESd), number(p.MCSEQ5), number(p.MCSEMedian), number(p.MCSEQ95),
			},
			number(p.RHat), number(p.BulkESS), number(p.TailESS),
		})
	}
	for _, x := range r.Rejections {
		out.Rejections[x.Cause] = x.Count
	}
	for _, x := range r.EBFMI {
		out.EBFMI = append(out.EBFMI, number(x))
	}
	named := func(x []float64) map[string]number {
		m := map[string]number{}
		for i, v := range x {
			m[r.Params[i].Text()] = number(v)
		}
		return m
	}
	for i := range r.Modes {
		m := &r.Modes[i]
		chains := []int{}
		for _, c := range m.Chains {
			chains = append(chains, c+1)
		}
		out.Modes = append(out.Modes, mode{named(m.At), number(m.Weight), chains, m.Draws, named(m.Mean), named(m.Sd)})
	}
	if t := r.Trust; t != nil {
		out.Trust = &trust{t.Draws, t.Failed, number(t.Factor), number(t.Sd), number(t.Shift)}
	}
	for _, d := range append(append([]diag.Diagnostic{}, h.Warnings...), r.Warnings...) {
		out.Warnings = append(out.Warnings, warning{d.Level.String(), string(d.Code), d.Message})
	}
	j := json.NewEncoder(w)
	j.SetEscapeHTML(false)
	j.SetIndent("", "  ")
	return j.Encode(out)
}
