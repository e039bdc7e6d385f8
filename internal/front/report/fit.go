package report

import (
	"archive/zip"
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// fitJSON writes a fit: schema 1.
func fitJSON(w io.Writer, h Heading, r *fit.Result, _ TableOptions) error {
	j := newJSON(w)
	j.raw("{\n  \"schema\": 1, \"status\": ")
	j.text(r.Status)
	j.raw(", \"odes\": ")
	j.text(odes.Version)
	j.raw(", \"model\": ")
	j.text(h.Model)
	j.raw(", \"file\": ")
	j.text(h.File)
	j.raw(",\n  \"objective\": {\"name\": ")
	j.text(r.Objective.Name)
	j.raw(", \"unit\": ")
	j.text(known(r.Objective.Unit))
	j.raw(", \"value\": ")
	j.number(r.Objective.Value)
	j.raw(", \"error\": ")
	j.number(r.Objective.Error)
	j.raw(", \"gradient_norm\": ")
	j.number(r.GradientNorm)
	j.raw("},\n  \"kkt\": {\"stationarity\": ")
	j.number(r.KKT.Stationarity)
	j.raw(", \"feasibility\": ")
	j.number(r.KKT.Feasibility)
	j.raw(", \"noise\": ")
	j.number(r.KKT.Noise)
	j.raw("},\n  \"estimates\": [")
	for i := range r.Estimates {
		j.estimate(i, &r.Estimates[i], true)
	}
	j.raw("\n  ],\n  \"correlation\": ")
	if r.Correlation == nil {
		j.raw("null")
	} else {
		j.raw("[")
		for i, row := range r.Correlation {
			j.comma(i)
			j.array([]int{len(row)}, row)
		}
		j.raw("]")
	}
	j.raw(",\n  \"starts\": [")
	for i := range r.Starts {
		s := &r.Starts[i]
		j.comma(i)
		j.raw("\n    {\"number\": ")
		j.int(int64(s.Number))
		j.raw(", \"value\": ")
		j.number(s.Value)
		j.raw(", \"status\": ")
		j.text(s.Status)
		j.raw(", \"why\": ")
		j.text(s.Why)
		j.raw(", \"evaluations\": ")
		j.int(int64(s.Evaluations))
		j.raw(", \"failures\": ")
		j.int(int64(s.Failures))
		j.raw(", \"seconds\": ")
		j.number(math.Round(s.Seconds*1e6) / 1e6)
		j.raw(", \"cluster\": ")
		j.int(int64(s.Cluster))
		j.raw(",\n     \"from\": ")
		j.array([]int{len(s.From)}, s.From)
		j.raw(", \"to\": ")
		if s.To == nil {
			j.raw("null")
		} else {
			j.array([]int{len(s.To)}, s.To)
		}
		j.raw("}")
	}
	j.raw("\n  ],\n  \"clusters\": [")
	for i, c := range r.Clusters {
		j.comma(i)
		j.raw("{\"value\": ")
		j.number(c.Value)
		j.raw(", \"starts\": ")
		j.int(int64(c.Starts))
		j.raw("}")
	}
	j.raw("],\n  ")
	if r.Bootstrap != nil {
		j.raw("\"bootstrap\": [")
		for i, x := range r.Bootstrap {
			j.comma(i)
			j.array([]int{len(x)}, x)
		}
		j.raw("],\n  ")
	}
	j.untold(r.Unidentified)
	j.raw(",\n  \"rows\": ")
	j.int(int64(r.Rows))
	for _, x := range []struct {
		name  string
		value float64
	}{{"nll", r.NLL}, {"aic", r.AIC}, {"bic", r.BIC}, {"factor", r.Factor}} {
		j.raw(", ")
		j.text(x.name)
		j.raw(": ")
		j.number(x.value)
	}
	j.raw(",\n  \"constraints\": [")
	for i, c := range r.Constraints {
		j.comma(i)
		j.raw("{\"name\": ")
		j.text(c.Name)
		j.raw(", \"relation\": ")
		j.text(c.Relation)
		j.raw(", \"value\": ")
		j.number(c.Value)
		j.raw("}")
	}
	j.raw("],\n  \"predictions\": ")
	j.predictions(r.Predictions)
	j.warnings(slices.Concat(h.Warnings, r.Warnings))
	s := r.Settings
	j.raw(",\n  \"settings\": {\"minimize\": ")
	j.text(s.Objective)
	j.raw(", \"maximize\": ", strconv.FormatBool(s.Maximize), ", \"algorithm\": ")
	j.text(r.Algorithm)
	j.raw(", \"starts\": ")
	j.int(int64(s.Starts))
	j.raw(", \"seed\": ")
	j.int(int64(s.Seed))
	j.raw(", \"intervals\": ")
	j.text(s.Intervals)
	j.raw(", \"level\": ")
	j.number(s.Level)
	j.raw(", \"scatter\": ")
	j.text(s.Scatter)
	j.raw(",\n    \"run\": ")
	j.settings(r.Run)
	j.raw("},\n  \"stats\": {\"evaluations\": ")
	j.int(int64(r.Stats.Evaluations))
	j.raw(", \"failures\": ")
	j.int(int64(r.Stats.Failures))
	if w := r.Stats.Steady; w.Searches > 0 {
		for i, c := range []struct {
			key string
			n   int
		}{
			{"searches", w.Searches},
			{"known", w.Known},
			{"warm", w.Warm},
			{"steps", w.Steps},
			{"newton", w.Newton},
			{"periods", w.Periods},
			{"saved", w.Saved},
			{"confirmed", w.Confirmed},
			{"repeated", w.Repeated},
		} {
			j.raw([]string{", \"steady\": {", ", "}[min(i, 1)])
			j.text(c.key)
			j.raw(": ")
			j.int(int64(c.n))
		}
		j.raw("}")
	}
	spent := r.Stats.Seconds
	j.raw(", \"seconds\": {\"compile\": ")
	j.number(spent.Compile)
	j.raw(", \"searches\": ")
	j.number(spent.Searches)
	j.raw(", \"errors\": ")
	j.number(spent.Errors)
	j.raw(", \"profiles\": ")
	j.number(spent.Profiles)
	j.raw("}}\n}\n")
	return j.w.Flush()
}

// comma separates the elements of a list.
func (j *jsonWriter) comma(i int) {
	if i > 0 {
		j.raw(", ")
	}
}

// estimate writes element i of a list of estimates.
func (j *jsonWriter) estimate(i int, x *fit.Estimate, fitted bool) {
	j.comma(i)
	j.raw("\n    {\"name\": ")
	name := x.Name
	if x.Initial {
		name = "initial(" + name + ")"
	}
	j.text(name)
	j.raw(", \"index\": ")
	if x.Index == nil {
		j.raw("null")
	} else {
		j.raw(strings.ReplaceAll(fmt.Sprint(x.Index), " ", ", "))
	}
	for _, n := range []struct {
		name  string
		value float64
	}{{"value", x.Value}, {"stderr", x.StdErr}} {
		j.raw(", ")
		j.text(n.name)
		j.raw(": ")
		j.number(n.value)
	}
	j.raw(", \"unit\": ")
	j.text(x.Unit)
	if !fitted {
		j.raw("}")
		return
	}
	j.raw(", \"lower\": ")
	j.number(x.Lower)
	j.raw(", \"upper\": ")
	j.number(x.Upper)
	j.raw(", \"at_bound\": ", strconv.FormatBool(x.AtBound != 0))
	if x.Decided {
		j.raw(", \"decided\": true")
	}
	if x.OpenLower != "" {
		j.raw(", \"open_lower\": ")
		j.text(x.OpenLower)
	}
	if x.OpenUpper != "" {
		j.raw(", \"open_upper\": ")
		j.text(x.OpenUpper)
	}
	if len(x.Profile) > 1 {
		j.raw(",\n     \"profile\": [")
		for k, p := range x.Profile {
			j.comma(k)
			j.array([]int{2}, []float64{p.Value, p.Rise})
		}
		j.raw("]")
	}
	j.raw("}")
}

// untold writes what the data do not tell.
func (j *jsonWriter) untold(list []fit.Combination) {
	j.raw("\"identifiable\": ", strconv.FormatBool(len(list) == 0), ", \"unidentified\": [")
	for i, u := range list {
		j.comma(i)
		j.raw("{\"names\": ")
		j.texts(u.Names)
		j.raw(", \"weights\": ")
		j.array([]int{len(u.Weights)}, u.Weights)
		if u.Directions > 1 {
			j.raw(", \"directions\": ")
			j.int(int64(u.Directions))
		}
		j.raw("}")
	}
	j.raw("]")
}

// predictions writes rows of data beside what the model says.
func (j *jsonWriter) predictions(list []fit.Prediction) {
	j.raw("[")
	for i := range list {
		p := &list[i]
		j.comma(i)
		j.raw("\n    {\"experiment\": ")
		j.text(p.Experiment)
		j.raw(", \"observation\": ")
		j.text(p.Observation)
		j.raw(", \"unit\": ")
		j.text(p.Unit)
		for _, n := range predictionNumbers(p) {
			j.raw(", ")
			j.text(n.name)
			j.raw(": ")
			j.number(n.value)
		}
		j.raw(", \"below\": ", strconv.FormatBool(p.Below), "}")
	}
	j.raw("]")
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
	j := newJSON(w)
	j.raw("{\n  \"schema\": 1, \"status\": \"ok\", \"model\": ")
	j.text(h.Model)
	j.raw(", \"file\": ")
	j.text(h.File)
	j.raw(",\n  \"predictions\": ")
	j.predictions(list)
	j.raw("\n}\n")
	return j.w.Flush()
}

// predictCSV writes one row for each value: experiment, observation, t, data, prediction, its standard error where
// there is one, the standard deviation of the data, the residual in units of that, and whether only a bound is known.
func predictCSV(w io.Writer, _ Heading, list []fit.Prediction, _ TableOptions) error {
	out := csv.NewWriter(w)
	row := []string{"experiment", "observation"}
	for _, n := range predictionNumbers(&fit.Prediction{}) {
		row = append(row, n.name)
	}
	out.Write(append(row, "below"))
	for i := range list {
		p := &list[i]
		row = append(row[:0], p.Experiment, p.Observation)
		for _, n := range predictionNumbers(p) {
			cell := plainNumber(n.value)
			if math.IsNaN(n.value) {
				cell = ""
			}
			row = append(row, cell)
		}
		out.Write(append(row, strconv.FormatBool(p.Below)))
	}
	out.Flush()
	return out.Error()
}

// PredictTable writes predictions for people.
func PredictTable(w io.Writer, h Heading, list []fit.Prediction, opts TableOptions) error {
	p := &printer{w: bufio.NewWriter(w), opts: opts}
	p.line("%s (%s)", h.Model, h.File)
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
		if x.Below {
			data = "≤ " + data
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
	p.line("%s (%s): %s = %s", h.Model, h.File, r.Objective.Name, significant(r.Objective.Value, 8))
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
		text := fmt.Sprintf("%s, %s; -log likelihood %s, AIC %s, BIC %s", countOf(r.Rows, "value"),
			countOf(len(r.Estimates), "estimate"), significant(r.NLL, 7), significant(r.AIC, 6), significant(r.BIC, 6))
		if r.Settings.Scatter == "estimated" && !math.IsNaN(r.Factor) {
			text += "; standard deviations are those of the model times " + significant(r.Factor, 4)
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

// fitCSV writes one row for each estimate.
func fitCSV(w io.Writer, _ Heading, r *fit.Result, _ TableOptions) error {
	out := csv.NewWriter(w)
	out.Write([]string{"name", "value", "stderr", "lower", "upper", "unit", "at_bound", "start"})
	for i := range r.Estimates {
		x := &r.Estimates[i]
		out.Write([]string{
			x.Text(), plainNumber(x.Value), plainNumber(x.StdErr), plainNumber(x.Lower), plainNumber(x.Upper), x.Unit,
			strconv.FormatBool(x.AtBound != 0), plainNumber(x.Start),
		})
	}
	out.Flush()
	return out.Error()
}

// fitNPZ writes a NumPy archive: value[n], stderr[n], lower[n], upper[n] and correlation[n, n] of the estimates that
// estimates.txt names; bootstrap[b, n], of refits; starts_value[s] and starts_to[s, n] of the searches; and t, data,
// prediction, stderr_prediction, sd and residual of the rows of data, of which rows.txt has experiment and observation.
func fitNPZ(w io.Writer, _ Heading, r *fit.Result, _ TableOptions) error {
	z := zip.NewWriter(w)
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
	if err := textMember(z, "estimates.txt", names); err != nil {
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
	if err := textMember(z, "rows.txt", rows); err != nil {
		return err
	}
	for _, name := range []string{
		"value", "stderr", "lower", "upper", "starts_value", "t", "data", "prediction", "stderr_prediction", "sd",
		"residual",
	} {
		if err := listMember(z, name, list[name]); err != nil {
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
	p.line("%s (%s): what %s can tell, near these values", h.Model, h.File, countOf(id.Rows, "value"))
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
	j := newJSON(w)
	j.raw("{\n  \"schema\": 1, \"status\": \"ok\", \"model\": ")
	j.text(h.Model)
	j.raw(", \"file\": ")
	j.text(h.File)
	j.raw(",\n  \"estimates\": [")
	for i := range id.Estimates {
		j.estimate(i, &id.Estimates[i], false)
	}
	j.raw("\n  ],\n  ")
	j.untold(id.Unidentified)
	j.raw(", \"condition\": ")
	j.number(id.Condition)
	j.raw(", \"rows\": ")
	j.int(int64(id.Rows))
	j.raw("\n}\n")
	return j.w.Flush()
}
