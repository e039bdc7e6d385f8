package analysis

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/draws"
	"odes.dev/odes/internal/base/output"
	"odes.dev/odes/internal/front/posterior"
	"odes.dev/odes/internal/front/predictive"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/simulate"
)

// sample draws from posteriors.
var sample = &Row{
	Name: "sample", Block: "sample",
	Help: "Draw params from the posterior: their distribution given the data and the priors.",
	Flags: []Flag{
		In,
		{Name: "chains", Key: "chains", Placeholder: "N", Help: "Number of chains."},
		{Name: "draws", Key: "draws", Placeholder: "N", Help: "Number of draws of each chain."},
		{Name: "warmup", Key: "warmup", Placeholder: "N", Help: "Iterations of each chain before its draws."},
		{Name: "seed", Key: "seed", Placeholder: "N", Help: "Seed of the random numbers."},
		{Name: "workers", Workers: true, Default: "0", Placeholder: "WHERE", Help: "{samplers}"},
		{
			Name: "resume", Kind: File, Placeholder: "FILE",
			Help: "Keep chains in this file, and continue those in it, also with more draws.",
		},
		{
			Name: "predictive", Kind: Switch, Request: "predictive",
			Help: "Compare predictions of the draws with the data, as odes predict --draws does.",
		},
		{Name: "draw", Kind: Many, Placeholder: "WHAT[=FILE]", Help: "Draw {samplepictures}. May be repeated."},
	},
	Examples: []Example{
		{"odes sample model.ode", "means, standard deviations and quantiles of the params, with R-hat " +
			"and effective draws"},
		{"odes sample model.ode -o draws.csv", "the draws, for ArviZ and other programs that read Stan's"},
		{"odes sample model.ode --draw trace --draw pairs=p.svg", "with pictures"},
		{"odes sample model.ode --draws 4000 --format json", "for programs"},
		{"odes sample model.ode --sample.method=smc", "several modes, and the evidence"},
		{"odes sample model.ode --resume chains --draws 4000", "go on after Ctrl-C, or with more draws"},
		{"odes sample model.ode --workers nats://host", "chains on other machines: see odes worker"},
	},
	Pictures: samplePictures,
	Draw:     "draw",
	Keeps:    true,
	Sums:     true,
	Check:    checkWorkers,
	Run: func(ctx context.Context, m *odes.Model, o odes.Options) (*Result, error) {
		return sampled(ctx, m, posterior.Options{Options: o}, false)
	},
	Asked: func(ctx context.Context, a *Ask) (*Result, error) {
		o := posterior.Options{Options: a.Options, Workers: a.Options.Threads}
		if where := a.Values["workers"]; elsewhere(where) {
			o.Source = a.Source
			o.Source.Text, o.Source.Files = a.Text()
			var end func()
			var err error
			if o.Backend, end, err = a.Workers(where); err != nil {
				return nil, err
			}
			defer end()
		} else if n := a.Values.Number("workers"); n > 0 {
			o.Workers = n
		}
		kept, err := keepChains(a)
		if err != nil {
			return nil, err
		}
		if kept == nil {
			return sampled(ctx, a.Model, o, a.Values["predictive"] == "on")
		}
		if n := kept.Draws(); n > 0 {
			a.note("resumed", fmt.Sprintf("note: %d draws were made before, and are kept", n))
		}
		o.Keep = kept
		r, err := sampled(ctx, a.Model, o, a.Values["predictive"] == "on")
		if e := kept.Close(); e != nil && err == nil {
			err = output.Wrap(a.Values["resume"], e)
		}
		if errors.Is(err, posterior.ErrMore) || errors.Is(err, posterior.ErrNoChains) {
			err = Wrongf("--resume %s: %v", a.Values["resume"], err)
		}
		return r, err
	},
}

// sampled draws, and says how the result is written.
func sampled(ctx context.Context, m *odes.Model, o posterior.Options, predict bool) (*Result, error) {
	if predict && !Predictable(m, o.Options) {
		return nil, Wrongf("there is no --predictive for draws without the random effects (%s) of subjects: draw "+
			"them, too, by --sample.random=draw", strings.Join(m.RandomEffects(), ", "))
	}
	r, err := posterior.Run(ctx, m, o)
	if err != nil {
		return nil, failed(ctx, err, posterior.ErrApproximate)
	}
	var after *predictive.Result
	if predict && !r.Interrupted {
		after, err = predictive.Run(ctx, m, drawsOf(r), predictive.Options{Options: o.Options, Seed: r.Settings.Seed})
		if err != nil {
			return nil, err
		}
		r.Warnings = append(r.Warnings, after.Warnings...)
		if after.Status != "ok" {
			r.Status = after.Status
		}
	}
	var prior *report.Table
	if predict {
		if prior, err = priorTable(m, o.Options, r); err != nil {
			return nil, err
		}
	}
	tables := func(programs bool) *report.Tables {
		t := sampleTables(r, programs)
		if prior != nil && programs {
			t.Tables = append(t.Tables, *prior)
		}
		if after != nil {
			of := predictedTables(after)
			t.Facts = append(t.Facts, of.Facts[1:]...)
			t.Tables = append(t.Tables, of.Tables...)
			if programs {
				t.Tables = append(t.Tables, perDatum("log_likelihood", after, after.LogLikelihood),
					perDatum("posterior_predictive", after, after.Replicated))
			}
		}
		return t
	}
	return &Result{
		Status: r.Status, Warnings: r.Warnings, Tables: tables(true), Of: r,
		Write: func(f *report.Format, w io.Writer, h report.Heading, opts report.TableOptions) error {
			switch f.Name {
			case "json":
				return sampleJSON(w, h, r, after)
			case "csv":
				return drawsCSV(w, h, r)
			case "table":
				return f.Tables(w, h, tables(false), opts)
			}
			return f.Tables(w, h, tables(true), opts)
		},
	}, nil
}

// Predictable reports whether draws predict the data of a model: of a population they need random effects.
func Predictable(m *odes.Model, o odes.Options) bool {
	if len(m.RandomEffects()) == 0 {
		return true
	}
	var s keys.Sample
	return m.ReadSettings("sample", o, &s) == nil && s.Random == "draw"
}

// priorTable has as many draws from the priors of what was drawn as there are of the posterior; nil without priors.
func priorTable(m *odes.Model, o odes.Options, r *posterior.Result) (*report.Table, error) {
	rows, err := simulate.Priors(m, o, r.Draws(), r.Settings.Seed)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	t := &report.Table{Name: "prior"}
	for i := range r.Params {
		p := &r.Params[i]
		at := slices.IndexFunc(rows[0], func(x simulate.Param) bool { return x.Name == p.Text() })
		if at < 0 {
			continue
		}
		c := report.TableColumn{Name: p.Text(), Unit: p.Unit}
		for _, row := range rows {
			c.Values = append(c.Values, row[at].Value)
		}
		t.Columns = append(t.Columns, c)
	}
	if len(t.Columns) == 0 {
		return nil, nil
	}
	return t, nil
}

// keepChains opens the file of --resume; nil for none. Its key is all that draws follow from, but for their number.
func keepChains(a *Ask) (*posterior.File, error) {
	path := a.Values["resume"]
	if path == "" {
		return nil, nil
	}
	text, files := a.Text()
	h := sha256.New()
	settings := slices.DeleteFunc(slices.Clone(a.Options.Settings), func(s odes.Setting) bool {
		return s.Key == "sample.draws"
	})
	fmt.Fprint(h, text, "\x00", a.Source.Experiment, "\x00", a.Options.Set, "\x00", settings, "\x00", a.Options.Solver,
		"\x00", a.Options.Sens)
	for _, name := range slices.Sorted(maps.Keys(files)) { // data, among others
		fmt.Fprintf(h, "\x00%s\x00%d\x00%s", name, len(files[name]), files[name])
	}
	kept, err := posterior.OpenFile(path, "odes sample 1 "+hex.EncodeToString(h.Sum(nil)))
	if errors.Is(err, posterior.ErrOther) {
		return nil, Wrongf("--resume %s: %v", path, err)
	}
	if err != nil {
		return nil, output.Wrap(path, err)
	}
	return kept, nil
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
	}
	if r.Effective > 0 {
		fact("Pareto k", r.K)
		fact("effective by weights", math.Round(r.Effective))
	}
	if r.Evidence != nil {
		fact("log evidence", r.Evidence.Log)
		fact("its standard error", r.Evidence.Error)
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
	if len(r.Quantities) > 0 {
		t.Tables = append(t.Tables, quantitiesTable(r, rounded))
	}
	if programs || len(r.Modes) > 1 {
		t.Tables = append(t.Tables, modesTable(r))
	}
	if programs {
		t.Tables = append(t.Tables, drawsTable(r))
	}
	return t
}

// quantitiesTable has what other objectives are in the draws, as params are told.
func quantitiesTable(r *posterior.Result, rounded func(x float64) float64) report.Table {
	t := report.Table{Name: "objectives", Columns: []report.TableColumn{
		{Name: "mean"},
		{Name: "sd"},
		{Name: "MCSE"},
		{Name: "5 %"},
		{Name: "median"},
		{Name: "95 %"},
		{Name: "R-hat"},
		{Name: "ESS"},
		{Name: "ESS of tails"},
	}}
	for i := range r.Quantities {
		q := &r.Quantities[i]
		label := q.Name
		if q.Unit != "" && q.Unit != "unknown" {
			label += " [" + q.Unit + "]"
		}
		t.Labels = append(t.Labels, label)
		for k, x := range []float64{
			q.Mean, q.Sd, q.MCSEMean, q.Q5, q.Median, q.Q95, q.RHat, rounded(q.BulkESS), rounded(q.TailESS),
		} {
			t.Columns[k].Values = append(t.Columns[k].Values, x)
		}
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
	for i := range r.Quantities {
		q := &r.Quantities[i]
		t.Columns = append(t.Columns, report.TableColumn{Name: q.Name, Values: slices.Concat(q.Values...)})
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
	for i := range r.Quantities {
		name, index, _ := strings.Cut(strings.TrimSuffix(r.Quantities[i].Name, "]"), "[")
		if index != "" {
			name += "." + strings.ReplaceAll(index, ",", ".")
		}
		names = append(names, name)
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
			for i := range r.Quantities {
				line = append(line, ',')
				line = strconv.AppendFloat(line, r.Quantities[i].Values[c][k], 'g', -1, 64)
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
func sampleJSON(w io.Writer, h report.Heading, r *posterior.Result, after *predictive.Result) error {
	type loo struct {
		ELPD number `json:"elpd"`
		SE   number `json:"se"`
		P    number `json:"p"`
		Bad  int    `json:"large_k"`
	}
	type mcse struct {
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
		MCSE   mcse   `json:"mcse"`
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
	type wall struct {
		Event  string   `json:"event"`
		Nth    int      `json:"nth"`
		Passes string   `json:"passes,omitempty"`
		T      number   `json:"t"`
		Before number   `json:"before"`
		Across int      `json:"across"`
		Chains []number `json:"chains"`
	}
	type trust struct {
		Draws  int    `json:"draws"`
		Failed int    `json:"failed"`
		Factor number `json:"factor,omitempty"`
		Sd     number `json:"sd_log_weight"`
		Shift  number `json:"shift"`
	}
	type evidence struct {
		Log         number   `json:"log"`
		Error       number   `json:"error"`
		Populations []number `json:"populations,omitempty"`
	}
	type warning struct {
		Level   string `json:"level"`
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	told := func(name string, index any, unit string, x *draws.Summary) param {
		none := number(math.NaN())
		return param{
			name, index, unit, number(x.Mean), number(x.Sd), number(x.Q5), number(x.Median), number(x.Q95),
			mcse{number(x.MCSEMean), number(x.MCSESd), none, none, none},
			number(x.RHat), number(x.BulkESS), number(x.TailESS),
		}
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
		Quantities  []param        `json:"objectives"`
		Divergences int            `json:"divergences"`
		Full        int            `json:"at_depth"`
		Gradients   int            `json:"gradients"`
		Rejections  map[string]int `json:"rejections"`
		EBFMI       []number       `json:"e_bfmi"`
		K           number         `json:"pareto_k"`
		Evidence    *evidence      `json:"evidence,omitempty"`
		Modes       []mode         `json:"modes"`
		Walls       []wall         `json:"walls"`
		Trust       *trust         `json:"trust"`
		Integrals   *trust         `json:"integrals,omitempty"`
		LOO         *loo           `json:"loo,omitempty"`
		Seconds     number         `json:"seconds"`
		Warnings    []warning      `json:"warnings"`
	}{
		1, r.Status, h.Model, h.File, s.Objective, s.Method, s.Metric, s.Chains, s.Draws, s.Warmup, s.Seed,
		[]param{},
		[]param{},
		r.Divergences, r.Full, r.Gradients,
		map[string]int{},
		[]number{},
		number(r.K),
		nil,
		[]mode{},
		[]wall{},
		nil, nil, nil, number(r.Seconds),
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
		out.Params = append(out.Params, told(p.Name, index, p.Unit, &p.Summary))
		last := &out.Params[len(out.Params)-1].MCSE
		last.Q5, last.Median, last.Q95 = number(p.MCSEQ5), number(p.MCSEMedian), number(p.MCSEQ95)
	}
	for i := range r.Quantities {
		q := &r.Quantities[i]
		out.Quantities = append(out.Quantities, told(q.Name, nil, q.Unit, &q.Summary))
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
	if e := r.Evidence; e != nil {
		out.Evidence = &evidence{Log: number(e.Log), Error: number(e.Error)}
		for _, x := range r.Populations {
			out.Evidence.Populations = append(out.Evidence.Populations, number(x.Evidence))
		}
	}
	for i := range r.Walls {
		w := &r.Walls[i]
		x := wall{w.Event, w.Nth, w.Passes, number(w.T), number(w.Before), w.Across, []number{}}
		for _, share := range w.Chains {
			x.Chains = append(x.Chains, number(share))
		}
		out.Walls = append(out.Walls, x)
	}
	if after != nil {
		l := &after.LOO
		out.LOO = &loo{number(l.ELPD), number(l.SE), number(l.P), len(l.Bad)}
	}
	for _, x := range []struct {
		of *posterior.Trust
		to **trust
	}{{r.Trust, &out.Trust}, {r.Integrals, &out.Integrals}} {
		if t := x.of; t != nil {
			*x.to = &trust{t.Draws, t.Failed, number(t.Factor), number(t.Sd), number(t.Shift)}
		}
	}
	for _, d := range append(append([]diag.Diagnostic{}, h.Warnings...), r.Warnings...) {
		out.Warnings = append(out.Warnings, warning{d.Level.String(), string(d.Code), d.Message})
	}
	j := json.NewEncoder(w)
	j.SetEscapeHTML(false)
	j.SetIndent("", "  ")
	return j.Encode(out)
}
