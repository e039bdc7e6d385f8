package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/data"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// fitForm is a fit: schema 1.
type fitForm struct {
	Schema    int    `json:"schema" at:"2"`
	Status    string `json:"status"`
	Odes      string `json:"odes"`
	Model     string `json:"model"`
	File      string `json:"file"`
	Objective struct {
		Name         string  `json:"name"`
		Unit         string  `json:"unit"`
		Value        float64 `json:"value"`
		Error        float64 `json:"error"`
		GradientNorm float64 `json:"gradient_norm"`
	} `json:"objective" at:"2"`
	KKT struct {
		Stationarity float64 `json:"stationarity"`
		Feasibility  float64 `json:"feasibility"`
		Noise        float64 `json:"noise"`
	} `json:"kkt" at:"2"`
	Estimates   []fittedForm  `json:"estimates" at:"2" each:"4 " end:"2"`
	Correlation [][]float64   `json:"correlation" empty:"null" at:"2"`
	Starts      []startForm   `json:"starts" at:"2" each:"4 " end:"2"`
	Clusters    []clusterForm `json:"clusters" at:"2"`
	Bootstrap   [][]float64   `json:"bootstrap,omitempty" at:"2"`
	untoldForm
	Rows        int              `json:"rows" at:"2"`
	NLL         float64          `json:"nll"`
	AIC         float64          `json:"aic"`
	BIC         float64          `json:"bic"`
	Factor      float64          `json:"factor"`
	Constraints []constraintForm `json:"constraints" at:"2"`
	Predictions []predictionForm `json:"predictions" at:"2" each:"4 "`
	Population  *populationForm  `json:"population,omitempty" at:"2"`
	warningsForm
	Settings struct {
		Minimize  string       `json:"minimize"`
		Maximize  bool         `json:"maximize"`
		Algorithm string       `json:"algorithm"`
		Starts    int          `json:"starts"`
		Seed      uint64       `json:"seed"`
		Intervals string       `json:"intervals"`
		Level     float64      `json:"level"`
		Scatter   string       `json:"scatter"`
		Run       settingsForm `json:"run" at:"4"`
	} `json:"settings" at:"2"`
	Stats struct {
		Evaluations int         `json:"evaluations"`
		Failures    int         `json:"failures"`
		Steady      *steadyForm `json:"steady,omitempty"`
		Seconds     struct {
			Compile  float64 `json:"compile"`
			Searches float64 `json:"searches"`
			Errors   float64 `json:"errors"`
			Profiles float64 `json:"profiles"`
		} `json:"seconds"`
	} `json:"stats" at:"2"`
}

type (
	estimateForm struct {
		Name   string  `json:"name"`
		Index  []int   `json:"index" empty:"null"`
		Value  float64 `json:"value"`
		StdErr float64 `json:"stderr"`
		Unit   string  `json:"unit"`
	}
	fittedForm struct {
		estimateForm
		Lower     float64      `json:"lower"`
		Upper     float64      `json:"upper"`
		AtBound   bool         `json:"at_bound"`
		Decided   bool         `json:"decided,omitempty"`
		OpenLower string       `json:"open_lower,omitempty"`
		OpenUpper string       `json:"open_upper,omitempty"`
		Symmetric bool         `json:"symmetric,omitempty"`
		Profile   [][2]float64 `json:"profile,omitempty" at:"5"`
	}
	startForm struct {
		Number      int       `json:"number"`
		Value       float64   `json:"value"`
		Status      string    `json:"status"`
		Why         string    `json:"why"`
		Evaluations int       `json:"evaluations"`
		Failures    int       `json:"failures"`
		Seconds     float64   `json:"seconds"`
		Cluster     int       `json:"cluster"`
		From        []float64 `json:"from" at:"5"`
		To          []float64 `json:"to" empty:"null"`
	}
	clusterForm struct {
		Value  float64 `json:"value"`
		Starts int     `json:"starts"`
	}
	// untoldForm is what the data do not tell.
	untoldForm struct {
		Identifiable bool              `json:"identifiable" at:"2"`
		Unidentified []combinationForm `json:"unidentified"`
	}
	combinationForm struct {
		Names      []string  `json:"names"`
		Weights    []float64 `json:"weights"`
		Directions int       `json:"directions,omitempty"`
	}
	constraintForm struct {
		Name     string  `json:"name"`
		Relation string  `json:"relation"`
		Value    float64 `json:"value"`
	}
	steadyForm struct {
		Searches  int `json:"searches"`
		Known     int `json:"known"`
		Warm      int `json:"warm"`
		Steps     int `json:"steps"`
		Newton    int `json:"newton"`
		Periods   int `json:"periods"`
		Saved     int `json:"saved"`
		Confirmed int `json:"confirmed"`
		Repeated  int `json:"repeated"`
	}
	// predictionForm is a row of data beside what the model says.
	predictionForm struct {
		Experiment  string  `json:"experiment"`
		Observation string  `json:"observation"`
		Unit        string  `json:"unit"`
		T           float64 `json:"t"`
		Data        float64 `json:"data"`
		Prediction  float64 `json:"prediction"`
		StdErr      float64 `json:"stderr"`
		SD          float64 `json:"sd"`
		Residual    float64 `json:"residual"`
		Below       bool    `json:"below"`
		Above       bool    `json:"above"`
	}
	predictForm struct {
		modelForm
		Predictions []predictionForm `json:"predictions" at:"2" each:"4 "`
	}
	identifyForm struct {
		modelForm
		Estimates []estimateForm `json:"estimates" at:"2" each:"4 " end:"2"`
		untoldForm
		Condition float64 `json:"condition"`
		Rows      int     `json:"rows"`
	}
)

// fitJSON writes a fit.
func fitJSON(w io.Writer, h Heading, r *fit.Result, _ TableOptions) error {
	f := fitForm{
		Schema: 1, Status: r.Status, Odes: odes.Version, Model: h.Model, File: h.File, Correlation: r.Correlation,
		untoldForm: untold(r.Identifiable, r.Unidentified), Rows: r.Rows, NLL: r.NLL, AIC: r.AIC, BIC: r.BIC,
		Factor: r.Factor, Bootstrap: r.Bootstrap, Predictions: predictions(r.Predictions), Population: populationOf(r),
		warningsForm: warningsOf(h.Warnings, r.Warnings),
	}
	o := &f.Objective
	o.Name, o.Unit, o.Value = r.Objective.Name, known(r.Objective.Unit), r.Objective.Value
	o.Error, o.GradientNorm = r.Objective.Error, r.GradientNorm
	f.KKT.Stationarity, f.KKT.Feasibility, f.KKT.Noise = r.KKT.Stationarity, r.KKT.Feasibility, r.KKT.Noise
	for i := range r.Estimates {
		x := &r.Estimates[i]
		e := fittedForm{
			estimateForm: estimate(x), Lower: x.Lower, Upper: x.Upper, AtBound: x.AtBound != 0, Decided: x.Decided,
			OpenLower: x.OpenLower, OpenUpper: x.OpenUpper, Symmetric: x.Symmetric(),
		}
		if len(x.Profile) > 1 {
			for _, p := range x.Profile {
				e.Profile = append(e.Profile, [2]float64{p.Value, p.Rise})
			}
		}
		f.Estimates = append(f.Estimates, e)
	}
	for i := range r.Starts {
		s := &r.Starts[i]
		seconds := math.Round(s.Seconds*1e6) / 1e6
		f.Starts = append(f.Starts, startForm{
			s.Number, s.Value, s.Status, s.Why, s.Evaluations, s.Failures, seconds, s.Cluster, s.From, s.To,
		})
	}
	for _, c := range r.Clusters {
		f.Clusters = append(f.Clusters, clusterForm{c.Value, c.Starts})
	}
	for _, c := range r.Constraints {
		f.Constraints = append(f.Constraints, constraintForm{c.Name, c.Relation, c.Value})
	}
	s, set := r.Settings, &f.Settings
	set.Minimize, set.Maximize, set.Algorithm, set.Starts = s.Objective, s.Maximize, r.Algorithm, s.Starts
	set.Seed, set.Intervals, set.Level, set.Scatter = s.Seed, s.Intervals, s.Level, s.Scatter
	set.Run = settingsOf(r.Run)
	f.Stats.Evaluations, f.Stats.Failures = r.Stats.Evaluations, r.Stats.Failures
	if w := r.Stats.Steady; w.Searches > 0 {
		f.Stats.Steady = &steadyForm{
			w.Searches, w.Known, w.Warm, w.Steps, w.Newton, w.Periods, w.Saved, w.Confirmed, w.Repeated,
		}
	}
	spent, to := r.Stats.Seconds, &f.Stats.Seconds
	to.Compile, to.Searches, to.Errors, to.Profiles = spent.Compile, spent.Searches, spent.Errors, spent.Profiles
	return writeJSON(w, f)
}

// estimate tells an estimate.
func estimate(x *fit.Estimate) estimateForm {
	name := x.Name
	if x.Initial {
		name = "initial(" + name + ")"
	}
	return estimateForm{name, x.Index, x.Value, x.StdErr, x.Unit}
}

// untold tells what the data do not tell.
func untold(identifiable bool, list []fit.Combination) untoldForm {
	f := untoldForm{Identifiable: identifiable}
	for _, u := range list {
		c := combinationForm{Names: u.Names, Weights: u.Weights}
		if u.Directions > 1 {
			c.Directions = u.Directions
		}
		f.Unidentified = append(f.Unidentified, c)
	}
	return f
}

// predictions tells rows of data beside what the model says.
func predictions(list []fit.Prediction) (rows []predictionForm) {
	for _, p := range list {
		rows = append(rows, predictionForm{
			p.Experiment, p.Observation, p.Unit, p.T, p.Data, p.Value, p.Error, p.Scatter, p.Residual, p.Side < 0,
			p.Side > 0,
		})
	}
	return rows
}

// namedNumber is a column of a table of predictions.
type namedNumber struct {
	name  string
	value float64
}

// predictionNumbers are the numbers of a prediction in the order of columns.
func predictionNumbers(p *fit.Prediction) []namedNumber {
	return []namedNumber{
		{"t", p.T},
		{"data", p.Data},
		{"prediction", p.Value},
		{"stderr", p.Error},
		{"sd", p.Scatter},
		{"residual", p.Residual},
	}
}

// predictJSON writes predictions alone.
func predictJSON(w io.Writer, h Heading, list []fit.Prediction, _ TableOptions) error {
	return writeJSON(w, predictForm{modelForm{1, "ok", h.Model, h.File}, predictions(list)})
}

// PredictTable writes predictions for people.
func PredictTable(w io.Writer, h Heading, list []fit.Prediction, opts TableOptions) error {
	p := &printer{w: bufio.NewWriter(w), opts: opts}
	p.line("%s (%s)", h.title(), h.File)
	p.line("")
	p.predictions(h, list)
	return p.w.Flush()
}

// predictions writes a table of rows of data.
func (p *printer) predictions(h Heading, list []fit.Prediction) {
	const n = 6
	label := func(x *fit.Prediction) string {
		if x.Experiment == "" {
			return x.Observation
		}
		return x.Experiment + " " + x.Observation
	}
	time := h.Time
	if h.TimeUnit != "" {
		time += " [" + h.TimeUnit + "]"
	}
	cols := []column{{left: true}, {head: time}, {head: "data"}, {head: "prediction"}, {head: "residual"}}
	some := slices.ContainsFunc(list, func(x fit.Prediction) bool { return !math.IsNaN(x.Error) })
	if some {
		cols = append(cols, column{head: "± prediction"})
	}
	last := ""
	for i := range list {
		x := &list[i]
		name := label(x)
		if x.Unit != "" {
			name += " [" + x.Unit + "]"
		}
		if name == last {
			name = ""
		} else {
			last = name
		}
		data, residual := significant(x.Data, n), significant(x.Residual, 2)
		switch {
		case x.Side < 0:
			data = "≤ " + data
		case x.Side > 0:
			data = "≥ " + data
		}
		if math.IsNaN(x.Residual) {
			residual = ""
		}
		cells := []string{name, significant(x.T, n), data, significant(x.Value, 5), residual}
		if some {
			e := ""
			if !math.IsNaN(x.Error) {
				e = significant(x.Error, 2)
			}
			cells = append(cells, e)
		}
		for k, cell := range cells {
			cols[k].cells = append(cols[k].cells, cell)
		}
	}
	p.columns(cols)
	p.line("")
	p.prose("A residual is how many standard deviations of the data they lie above the prediction.")
}

// FitTable writes a fit for people.
func FitTable(w io.Writer, h Heading, r *fit.Result, opts TableOptions) error {
	p := &printer{w: bufio.NewWriter(w), opts: opts}
	p.line("%s (%s): %s = %s", h.title(), h.File, r.Objective.Name, significant(r.Objective.Value, 8))
	p.line("")
	percent := significant(100*r.Settings.Level, 3) + " %"
	cols := []column{{left: true}, {head: "estimate"}, {head: "± std. error"}, {head: percent + " from"}, {head: "to"}}
	add := func(cells ...string) {
		for k, cell := range cells {
			cols[k].cells = append(cols[k].cells, cell)
		}
	}
	cols = append(cols, column{left: true})
	for i := range r.Estimates {
		x := &r.Estimates[i]
		name := x.Text()
		if x.Unit != "" && x.Unit != "1" {
			name += " [" + x.Unit + "]"
		}
		n := 6
		if x.StdErr > 0 && !math.IsInf(x.StdErr, 1) && x.Value != 0 {
			n = min(max(floorExponent(math.Abs(x.Value))-floorExponent(x.StdErr)+3, 3), 10)
		}
		add(name, significant(x.Value, n), end(x.StdErr, 3, ""), end(x.Lower, n, x.OpenLower),
			end(x.Upper, n, x.OpenUpper), remark(x))
	}
	for k := len(cols) - 1; k > 1; k-- { // what no estimate has
		if !slices.ContainsFunc(cols[k].cells, func(c string) bool { return c != "" }) {
			cols = slices.Delete(cols, k, k+1)
		}
	}
	p.columns(cols)
	p.correlations(r)
	p.line("")
	if r.Rows > 0 {
		text := fmt.Sprintf("%s, %s; -log likelihood %s", countOf(r.Rows, "value"),
			countOf(len(r.Estimates), "estimate"), significant(r.NLL, 7))
		if !math.IsNaN(r.AIC) {
			text += fmt.Sprintf(", AIC %s, BIC %s", significant(r.AIC, 6), significant(r.BIC, 6))
		}
		if r.Settings.Scatter == "estimated" && !math.IsNaN(r.Factor) {
			text += "; standard deviations are those of the model times " + significant(r.Factor, 4)
			if free := r.Rows - r.Freedom; free < len(r.Estimates) { // others are held, or priors count as values
				text += fmt.Sprintf(", with %d degrees of freedom", r.Freedom)
			}
		}
		p.prose("%s", text)
	}
	for _, c := range r.Constraints {
		p.prose("constraint %s: %s %s 0", c.Name, significant(c.Value, 4), c.Relation)
	}
	if r.Bootstrap != nil {
		p.prose("intervals from %s to rows of data drawn with replacement", countOf(len(r.Bootstrap), "refit"))
	}
	for _, why := range []struct{ open, words string }{
		{"failed", "the profile could not be followed further: beyond, no search has come to a value of the objective"},
		{"uncertain", "the end is not certain: with the estimate held there, no search has shown that the others " +
			"are at a " +
			"minimum and that the objective has risen by what it is to rise"},
	} {
		if slices.ContainsFunc(r.Estimates, func(x fit.Estimate) bool {
			return x.OpenLower == why.open || x.OpenUpper == why.open
		}) {
			p.prose("? %s", why.words)
		}
	}
	p.population(r)
	p.searches(r)
	p.certificate(r)
	p.prose("%s by %s, %s: %s", r.Algorithm, r.Run.Method, "rtol "+plainNumber(r.Run.RTol),
		countOf(r.Stats.Evaluations, "evaluation"))
	return p.w.Flush()
}

// end writes an end of an interval; "" where there is none.
func end(x float64, n int, open string) string {
	switch {
	case math.IsNaN(x):
		return ""
	case math.IsInf(x, 0), open == "flat":
		return "open"
	case open == "bound":
		return significant(x, n) + " (bound)"
	case open == "failed", open == "stopped", open == "uncertain":
		return significant(x, n) + "?"
	}
	return significant(x, n)
}

// remark says what there is to say of an estimate in a word or two.
func remark(x *fit.Estimate) string {
	switch {
	case x.AtBound < 0:
		return "at its lower bound"
	case x.AtBound > 0:
		return "at its upper bound"
	case x.Decided:
		return "decided by constraints"
	case math.IsInf(x.StdErr, 1):
		return "not identifiable"
	}
	return ""
}

// correlations writes those that are large, by pairs.
func (p *printer) correlations(r *fit.Result) {
	const large, most = 0.9, 6
	type pair struct {
		i, j int
		c    float64
	}
	var list []pair
	for i, row := range r.Correlation {
		for j := range i {
			if math.Abs(row[j]) > large {
				list = append(list, pair{j, i, row[j]})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b pair) int {
		switch {
		case math.Abs(a.c) > math.Abs(b.c):
			return -1
		case math.Abs(a.c) < math.Abs(b.c):
			return 1
		}
		return 0
	})
	if len(list) == 0 {
		return
	}
	var parts []string
	for _, x := range list[:min(len(list), most)] {
		parts = append(parts, fmt.Sprintf("%s and %s %+.3f", r.Estimates[x.i].Text(), r.Estimates[x.j].Text(), x.c))
	}
	more := ""
	if n := len(list) - most; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	p.line("")
	p.prose("Strongly correlated: %s%s.", strings.Join(parts, ", "), more)
}

// certificate writes how sure it is that the fit came to a minimum, and how many searches came to it.
func (p *printer) certificate(r *fit.Result) {
	if len(r.Starts) == 0 || math.IsNaN(r.KKT.Stationarity) {
		return
	}
	what := "certified minimum"
	if !r.KKT.Certified {
		what = "no certified minimum"
	}
	text := fmt.Sprintf("%s: stationarity %s, ", what, significant(r.KKT.Stationarity, 2))
	if len(r.Constraints) > 0 {
		text += fmt.Sprintf("feasibility %s, ", significant(r.KKT.Feasibility, 2))
	}
	text += fmt.Sprintf("noise %s; %s", significant(r.KKT.Noise, 2), countOf(len(r.Starts), "start"))
	if k := r.Starts[0].Cluster; k >= 0 && len(r.Starts) > 1 {
		text += fmt.Sprintf(", of which %d ended here", r.Clusters[k].Starts)
	}
	p.prose("%s", text)
}

// searches writes where the searches ended, if there were several.
func (p *printer) searches(r *fit.Result) {
	if len(r.Starts) < 2 {
		return
	}
	count := map[string]int{}
	for i := range r.Starts {
		count[r.Starts[i].Status]++
	}
	var parts []string
	for _, s := range []string{"converged", "limit", "stuck", "stopped", "failed"} {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	p.prose("%d searches: %s", len(r.Starts), strings.Join(parts, ", "))
	const most = 6
	cols := []column{{head: "minimum"}, {head: "searches"}, {head: "constraints"}}
	for i, c := range r.Clusters {
		if i == most {
			break
		}
		cols[0].cells = append(cols[0].cells, significant(c.Value, 8))
		cols[1].cells = append(cols[1].cells, strconv.Itoa(c.Starts))
		state := "hold"
		if r.Starts[c.Best].Violated {
			state = "violated"
		}
		cols[2].cells = append(cols[2].cells, state)
	}
	if !slices.Contains(cols[2].cells, "violated") {
		cols = cols[:2]
	}
	p.columns(cols)
	if n := len(r.Clusters) - most; n > 0 {
		p.line("… and %d more minima", n)
	}
}

func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// fitNPZ writes a NumPy archive: value[n], stderr[n], lower[n], upper[n] and correlation[n, n] of the estimates that
// estimates.txt names; bootstrap[b, n], of refits; starts_value[s] and starts_to[s, n] of the searches; and t, data,
// prediction, stderr_prediction, sd and residual of the rows of data, of which rows.txt has experiment and observation.
func fitNPZ(w io.Writer, _ Heading, r *fit.Result, _ TableOptions) error {
	z := data.NewArchive(w)
	n := len(r.Estimates)
	names := make([]string, n)
	list := map[string][]float64{}
	for i := range r.Estimates {
		x := &r.Estimates[i]
		names[i] = x.Text()
		list["value"] = append(list["value"], x.Value)
		list["stderr"] = append(list["stderr"], x.StdErr)
		list["lower"] = append(list["lower"], x.Lower)
		list["upper"] = append(list["upper"], x.Upper)
	}
	if err := z.Lines("estimates.txt", names); err != nil {
		return err
	}
	for i := range r.Starts {
		list["starts_value"] = append(list["starts_value"], r.Starts[i].Value)
	}
	var rows []string
	for i := range r.Predictions {
		p := &r.Predictions[i]
		rows = append(rows, strings.TrimSpace(p.Experiment+" "+p.Observation))
		for _, x := range predictionNumbers(p) {
			name := x.name
			if name == "stderr" {
				name = "stderr_prediction"
			}
			list[name] = append(list[name], x.value)
		}
	}
	if err := z.Lines("rows.txt", rows); err != nil {
		return err
	}
	for _, name := range []string{
		"value", "stderr", "lower", "upper", "starts_value", "t", "data", "prediction", "stderr_prediction", "sd",
		"residual",
	} {
		if err := z.List(name, list[name]); err != nil {
			return err
		}
	}
	err := npyMember(z, "starts_to", []int{len(r.Starts), n}, func(i int) []float64 {
		if r.Starts[i].To == nil {
			return nan(n)
		}
		return r.Starts[i].To
	})
	if err == nil && r.Bootstrap != nil {
		err = npyMember(z, "bootstrap", []int{len(r.Bootstrap), n}, func(i int) []float64 { return r.Bootstrap[i] })
	}
	if err == nil && r.Correlation != nil {
		err = npyMember(z, "correlation", []int{n, n}, func(i int) []float64 { return r.Correlation[i] })
	}
	if err != nil {
		return err
	}
	return z.Close()
}

// IdentifyTable writes what data can tell, for people.
func IdentifyTable(w io.Writer, h Heading, id *fit.Identification, opts TableOptions) error {
	p := &printer{w: bufio.NewWriter(w), opts: opts}
	p.line("%s (%s): what %s can tell, near these values", h.title(), h.File, countOf(id.Rows, "value"))
	p.line("")
	cols := []column{{left: true}, {head: "value"}, {head: "± std. error"}, {head: "relative"}, {left: true}}
	for i := range id.Estimates {
		x := &id.Estimates[i]
		name := x.Text()
		if x.Unit != "" && x.Unit != "1" {
			name += " [" + x.Unit + "]"
		}
		relative, remark := "", ""
		switch {
		case math.IsInf(x.StdErr, 1):
			remark = "not identifiable"
		case x.Value != 0:
			relative = significant(100*x.StdErr/math.Abs(x.Value), 2) + " %"
		}
		for k, cell := range []string{name, significant(x.Value, 6), end(x.StdErr, 3, ""), relative, remark} {
			cols[k].cells = append(cols[k].cells, cell)
		}
	}
	p.columns(cols)
	p.line("")
	for i := range id.Unidentified {
		p.prose("%s", id.Unidentified[i].String())
	}
	if len(id.Unidentified) == 0 {
		p.prose("The data tell all of them; condition %s.", significant(id.Condition, 2))
	}
	return p.w.Flush()
}

// IdentifyJSON writes what data can tell: schema 1.
func IdentifyJSON(w io.Writer, h Heading, id *fit.Identification, _ TableOptions) error {
	f := identifyForm{
		modelForm: modelForm{1, "ok", h.Model, h.File}, untoldForm: untold(len(id.Unidentified) == 0, id.Unidentified),
		Condition: id.Condition, Rows: id.Rows,
	}
	for i := range id.Estimates {
		f.Estimates = append(f.Estimates, estimate(&id.Estimates[i]))
	}
	return writeJSON(w, f)
}
