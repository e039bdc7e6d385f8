package analysis

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/exchange/petab"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/internal/front/selection"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// selected compares models by fits.
var selected = &Row{
	Name:  "select",
	Help:  "Compare nested models, in which some params have fixed values, by fits to the data.",
	Block: "fit",
	Flags: []Flag{
		{
			Name: "among", Kind: Many, Placeholder: "'K = X'", Request: "among",
			Help: "A param, and the value that some of the models hold it at. May be repeated.",
		},
		{
			Name: "criterion", Placeholder: "NAME", Request: "criterion",
			Help: "What models are compared by: " + strings.Join(selection.Criteria, ", ") + "; aicc without it.",
		},
		{
			Name: "search", Placeholder: "HOW", Request: "search",
			Help: "Through which models: all, forward from those with fewest estimates, backward from those with most.",
		},
		{
			Name: "fit", Placeholder: "NAME", Help: "Use this fit block. --fit.starts=10 sets a key of it.",
			Request: "fit",
		},
		{
			Name: "starts", Key: "starts", Word: "starts", Own: true, Kind: Whole, Placeholder: "N",
			Help: "Number of searches for each model: short for --fit.starts.",
		},
		{
			Name: "seed", Key: "seed", Kind: Whole, Placeholder: "N",
			Help: "Seed of the points where searches start: short for --fit.seed.",
		},
		{Name: "workers", Workers: true, Default: "0", Placeholder: "WHERE", Help: "{searchers}"},
		{
			Name: "resume", Kind: File, Placeholder: "FILE",
			Help: "Keep searches in this file, and do not repeat those in it.",
		},
	},
	Examples: []Example{
		{"odes select model.ode --among 'k3 = 0' --among 'n = 1'", "four models; the best first"},
		{"odes select model.ode --among 'k3 = 0' --search forward -o best.ode", "the best as a model, with estimates"},
		{"odes select petab_select_problem.yaml --resume searches.txt", "of PEtab Select; go on after Ctrl-C"},
	},
	Sets:     true,
	Patience: time.Minute,
	Session:  &Session{None: true},
	Check:    checkWorkers,
	Do:       runSelection,
}

// runSelection compares models.
func runSelection(ctx context.Context, a *Ask) (*Result, error) {
	o := selection.Options{Criterion: a.Values["criterion"], Search: a.Values["search"]}
	o.Options = fit.Options{Options: a.Options, Starts: a.Values.Number("starts")}
	o.Options.Options.Fit = a.Values["fit"]
	o.Source = a.Source
	o.Source.Text, o.Source.Files = a.Text()
	var told diag.List
	var err error
	if petab.IsSelection(a.Source.Text) {
		err = ofPEtab(a, &o, &told)
	} else {
		o.Among, err = among(a)
	}
	if err != nil {
		return nil, err
	}
	o.Criterion, o.Search = cmp.Or(o.Criterion, "aicc"), cmp.Or(o.Search, "all")
	kept, err := resumeSelection(a, &o)
	if err != nil {
		return nil, err
	}
	defer kept.close()
	if where := a.Values["workers"]; elsewhere(where) {
		var end func()
		if o.Backend, end, err = a.Workers(where); err != nil {
			return nil, err
		}
		defer end()
	} else {
		o.Workers = a.Values.Number("workers")
	}
	if a.Tell != nil {
		all := len(o.Among)
		o.Fitting = func(done int, name string) {
			a.Tell(Progress{Phase: "models", Steps: done, Done: float64(done) / float64(all), Note: name})
		}
	}
	r, err := selection.Run(ctx, a.Model, o)
	if r == nil {
		return nil, Wrongf("%v", err)
	}
	if e := kept.close(); e != nil && err == nil {
		err = e
	}
	result := &Result{Status: r.Status, Tables: selectionTables(r, o.Criterion), Of: r}
	for i := range r.Candidates {
		switch c := &r.Candidates[i]; {
		case c.Err != nil:
			told.Warnf(fit.CodeFit, source.Span{}, "the fit of the model %s failed: %v", c.Name, c.Err)
		case c.Fit != nil && c.Fit.Status != "ok":
			told.Warnf(fit.CodeFit, source.Span{}, "the fit of the model %s is not known to have found the minimum, "+
				"so its criterion may be smaller; --starts 20 searches from more points", c.Name)
		}
	}
	result.Warnings = told.All()
	if err != nil && !errors.Is(err, context.Canceled) {
		return result, err
	}
	best := r.Best()
	if best == nil {
		return result, failed(ctx, fit.ErrNoMinimum, fit.ErrNoMinimum)
	}
	if of := best.Of; of != nil && of.Name != "" { // the model that -o writes
		a.Model, a.Source = of.Model, of.Source
	}
	result.Found = slices.Clone(best.Held)
	if best.Fit != nil {
		result.Found = append(result.Found, best.Fit.Assignments()...)
	}
	return result, failed(ctx, err, fit.ErrNoMinimum)
}

// among returns the models that hold some of the params that --among names.
func among(a *Ask) ([]selection.Model, error) {
	var texts []string
	var held []odes.Assignment
	for _, text := range strings.Split(a.Values["among"], "\n") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		set, err := ReadAssignment(text)
		if err == nil && len(set.Values) != 1 {
			err = errors.New("a param is held at one value")
		}
		if err == nil {
			set, err = a.Model.Convert(set)
		}
		if err != nil {
			return nil, Wrongf("--among %s: %v", text, err)
		}
		texts, held = append(texts, text), append(held, set)
	}
	if texts == nil {
		return nil, nil
	}
	all, err := selection.Product(texts, held)
	if err != nil {
		return nil, Wrongf("%v", err)
	}
	return all, nil
}

// ofPEtab reads the models from a problem of PEtab Select. What flags say counts more.
func ofPEtab(a *Ask, o *selection.Options, told *diag.List) error {
	if a.Values["among"] != "" {
		return Wrongf("--among is for models that are no problem of PEtab Select: its tables say what to choose among")
	}
	var list diag.List
	s := petab.ReadSelection(source.NewFile(a.Source.Name, a.Source.Text), a.Source.FS(), &list)
	if s == nil {
		return list.Err()
	}
	o.Criterion = cmp.Or(o.Criterion, strings.ToLower(s.Criterion))
	search := map[string]string{"brute_force": "all"}[s.Method]
	o.Search = cmp.Or(o.Search, search, s.Method)
	if s.Unread {
		told.Notef(fit.CodeFit, source.Span{}, "initial_model_files are not read: PEtab Select begins its searches "+
			"without them; predecessor_model, among candidate_space_arguments, is where one begins")
	}
	problems, err := problemsOf(a, s)
	if err != nil {
		return err
	}
	for i := range s.Models {
		o.Among = append(o.Among, heldModel(&s.Models[i], problems))
	}
	if s.Begin != nil {
		begin := heldModel(s.Begin, problems)
		o.Begin = &begin
	}
	return nil
}

// heldModel is a model of PEtab Select.
func heldModel(x *petab.Alternative, problems map[string]*selection.Problem) selection.Model {
	m := selection.Model{Name: x.Name, Estimated: []string{}, Of: problems[x.Problem]}
	for _, h := range x.Values {
		if h.Estimated() {
			m.Estimated = append(m.Estimated, h.Name)
			continue
		}
		v, _ := strconv.ParseFloat(h.Value, 64) // reading it has made sure
		m.Held = append(m.Held, odes.Assignment{Name: h.Name, Values: []float64{v}})
	}
	return m
}

// problemsOf compiles the problems of a selection, the first of which is the model that was asked for. Criteria say
// which model is better where they are of the same data, so these must be.
func problemsOf(a *Ask, s *petab.Selection) (map[string]*selection.Problem, error) {
	all := map[string]*selection.Problem{}
	if len(s.Problems) == 1 {
		return all, nil
	}
	var first []float64
	for k, path := range s.Problems {
		var list diag.List
		text := petab.TranslateOne(source.NewFile(a.Source.Name, a.Source.Text), a.Source.FS(), path, &list)
		if text == nil {
			return nil, list.Err()
		}
		p := &selection.Problem{Name: path, Source: ensemble.Source{Name: path, Text: text.Text()}}
		var err error
		if p.Model, err = odes.Parse(path, text.Text(), odes.ParseOptions{}); err != nil {
			return nil, err
		}
		data, err := fit.Data(p.Model, a.Options)
		if err != nil {
			return nil, err
		}
		slices.Sort(data)
		if k == 0 {
			first = data
		} else if !slices.Equal(first, data) {
			return nil, Wrongf("the data of %s are not those of %s: criteria compare models of the same data; make a "+
				"selection for each", path, s.Problems[0])
		}
		all[path] = p
	}
	return all, nil
}

// selectionTables has a row for each model. Weight is how likely it is to be the best of them by the criterion:
// exp(-difference/2), relative to the others.
func selectionTables(r *selection.Result, criterion string) *report.Tables {
	t := report.Table{Name: "models"}
	column := func(name string, of func(c *selection.Candidate) float64) {
		x := report.TableColumn{Name: name}
		for i := range r.Candidates {
			x.Values = append(x.Values, of(&r.Candidates[i]))
		}
		t.Columns = append(t.Columns, x)
	}
	least, sum := math.NaN(), 0.0
	if best := r.Best(); best != nil {
		least = best.Value(criterion)
	}
	weight := func(c *selection.Candidate) float64 {
		if x := c.Value(criterion); !math.IsNaN(x) {
			return math.Exp((least - x) / 2)
		}
		return 0
	}
	for i := range r.Candidates {
		t.Labels = append(t.Labels, r.Candidates[i].Name)
		sum += weight(&r.Candidates[i])
	}
	column("estimates", func(c *selection.Candidate) float64 { return float64(c.Free) })
	column("nll", func(c *selection.Candidate) float64 { return c.NLL })
	column("aic", func(c *selection.Candidate) float64 { return c.AIC })
	column("aicc", func(c *selection.Candidate) float64 { return c.AICc })
	column("bic", func(c *selection.Candidate) float64 { return c.BIC })
	column("difference", func(c *selection.Candidate) float64 { return c.Value(criterion) - least })
	column("weight", func(c *selection.Candidate) float64 { return weight(c) / sum })
	all := &report.Tables{Facts: []report.Fact{{Name: "criterion", Text: criterion}}, Tables: []report.Table{t}}
	best := r.Best()
	if best != nil {
		all.Facts = append(all.Facts, report.Fact{Name: "best", Text: best.Name},
			report.Fact{Name: "rows", Value: float64(best.Rows)})
	}
	if best == nil || best.Fit == nil {
		return all
	}
	estimates := report.Table{Name: "estimates of the best model"}
	values, errs := report.TableColumn{Name: "value"}, report.TableColumn{Name: "stderr"}
	for i := range best.Fit.Estimates {
		e := &best.Fit.Estimates[i]
		estimates.Labels = append(estimates.Labels, e.Text())
		values.Values, errs.Values = append(values.Values, e.Value), append(errs.Values, e.StdErr)
	}
	estimates.Columns = []report.TableColumn{values, errs}
	all.Tables = append(all.Tables, estimates)
	return all
}
