// Package nonmem translates control streams of NONMEM into the language of odes: the model of a subject, random
// effects,
// residual errors, records of doses, and what is to be estimated.
//
// S. L. Beal, L. B. Sheiner, A. J. Boeckmann and R. J. Bauer, NONMEM Users Guides, ICON plc, say what a control stream
// means. Names are without regard to case there, and are capital letters here.
package nonmem

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// A control stream has a problem, and data items or parameters.
var (
	problemForm = lazy.Regexp(`(?im)^[ \t]*\$PROB`)
	partForm    = lazy.Regexp(`(?im)^[ \t]*\$(INP|DAT|INFILE|THE|OME|SUB|PRED)[A-Z]*\b`)
)

// Is reports whether a text is a control stream of NONMEM.
func Is(text string) bool { return problemForm().MatchString(text) && partForm().MatchString(text) }

// control is a control stream that is being translated.
type control struct {
	source  *source.File
	text    string
	list    *diag.List
	m       *maker
	title   string
	rename  map[string]string // of $ABBR REPLACE
	code    map[string][]*statement
	pk      *scope
	decide  func(*expr) *expr
	notes   map[string]bool
	warned  map[string]bool
	pred    bool // $PRED in place of compartments
	indexed bool // the time is the number of the row, since $PRED has none, or one that does not ascend

	system
	population
	table
	search
}

// system is the model of a subject.
type system struct {
	advan        int
	trans        string
	compartments []compartment
	count        int
	dose         int // the compartments of doses and measurements that name none, from 1
	central      int
	at           place // of $SUBROUTINES or $PRED
}

// population is what is estimated.
type population struct {
	thetas       []estimate
	omega, sigma matrix
	names        []string          // of THETA, by $ABBR
	within       map[effect]string // in which variable each stands first
}

// table is what is known of the data.
type table struct {
	inputs   []string // the data items, "" for those that are dropped
	as       map[string]string
	data     *data
	observed []int    // rows
	asked    []string // data items that tell kinds of measurements apart
	shifted  bool     // times of later occasions are not those of the table
}

// search is how NONMEM estimates.
type search struct {
	marginal  string
	algorithm string // of fits; "" for the usual one
	saem      place  // where METHOD=SAEM stands
}

// Translate writes a control stream in the language of odes. Files has its table. It reports to list what is wrong or
// cannot be translated, and returns nil then.
func Translate(file *source.File, files fs.FS, list *diag.List) *source.File {
	c := &control{
		source: file, text: file.Text(), list: list, m: newMaker(), rename: map[string]string{},
		code: map[string][]*statement{}, notes: map[string]bool{}, warned: map[string]bool{},
	}
	c.within = map[effect]string{}
	c.omega.what, c.sigma.what = "OMEGA", "SIGMA"
	out, err := c.translate(files)
	if err != nil {
		var f *fault
		at := source.Span{File: file}
		if errors.As(err, &f) {
			at.Start, at.End = f.at.start, max(f.at.start, f.at.end)
		}
		list.Errorf(parser.CodeForeignFile, at, "%v", err)
		return nil
	}
	return out
}

// left notes what is left out, once.
func (c *control) left(format string, at place) {
	text := format
	if strings.Contains(format, "%d") {
		text = fmt.Sprintf(format, c.source.LineAt(at.start))
	}
	if !c.notes[text] {
		c.notes[text] = true
		c.list.Notef(parser.CodeForeignFile, source.Span{File: c.source, Start: at.start, End: at.end}, "%s", text)
	}
}

// warn says where the translation may differ from what the control stream means, once.
func (c *control) warn(at place, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !c.warned[text] {
		c.warned[text] = true
		c.list.Warnf(parser.CodeForeignFile, source.Span{File: c.source, Start: at.start, End: max(at.start, at.end)},
			"%s", text)
	}
}

// parts are the records that are read together.
type parts struct {
	data   *dataRecord
	inputs []record
	codes  map[string][]record
}

func (c *control) translate(files fs.FS) (*source.File, error) {
	records, err := split(c.text)
	if err != nil {
		return nil, err
	}
	p := parts{codes: map[string][]record{}}
	problems := 0
	for _, r := range records {
		if r.name == "PROBLEM" {
			if problems++; problems > 1 {
				c.left("the problems from line %d on are left out: odes reads the first", r.at)
				break
			}
			line, _, _ := strings.Cut(c.text[r.start:r.end], "\n")
			line, _, _ = strings.Cut(line, ";")
			c.title = strings.TrimSpace(line)
			continue
		}
		if why, ok := refused[r.name]; ok {
			if why == "" {
				why = "$" + r.name + " is not read"
			}
			return nil, faultf(r.at, "%s", why)
		}
		if err := c.record(r, &p); err != nil {
			return nil, err
		}
	}
	if err := c.complete(p); err != nil {
		return nil, err
	}
	if c.inputs, c.as, err = inputs(c.text, p.inputs); err != nil {
		return nil, err
	}
	if c.data, err = load(files, *p.data, c.inputs, c.as); err != nil {
		return nil, err
	}
	c.inputs = c.data.columns
	if err := c.checkData(); err != nil {
		return nil, err
	}
	for _, name := range []string{"PRED", "PK", "DES", "ERROR"} {
		for _, r := range p.codes[name] {
			if err := c.read(name, r); err != nil {
				return nil, err
			}
		}
	}
	return c.compose()
}

// record reads a record, or keeps it in p.
func (c *control) record(r record, p *parts) (err error) {
	switch r.name {
	case "INPUT":
		p.inputs = append(p.inputs, r)
	case "PK", "PRED", "DES", "ERROR":
		p.codes[r.name] = append(p.codes[r.name], r)
		if r.name == "PRED" {
			c.pred, c.at = true, r.at
		}
	case "DATA":
		var one dataRecord
		if one, err = readData(c.text, r); err == nil && p.data == nil {
			p.data = &one
		}
	case "SUBROUTINES":
		c.at = r.at
		err = c.subroutines(r)
	case "MODEL":
		err = c.model(r)
	case "THETA":
		var list []estimate
		list, err = thetas(c.text, r)
		for _, t := range list {
			if t.midway {
				c.left("this THETA (line %d) has no initial value, which NONMEM would seek: it is "+decimal(t.value)+
					" here, midway between its bounds", t.at)
			}
		}
		c.thetas = append(c.thetas, list...)
	case "OMEGA":
		err = c.omega.read(c.text, r)
	case "SIGMA":
		err = c.sigma.read(c.text, r)
	case "ESTIMATION":
		err = c.estimation(r)
	case "ABBREVIATED":
		err = c.abbreviated(r)
	case "SIMULATION":
		c.left("$SIMULATION (line %d) is left out: `odes simulate` draws data", r.at)
	}
	return err
}

// complete reports what a control stream lacks.
func (c *control) complete(p parts) error {
	switch {
	case len(p.inputs) == 0:
		return faultf(place{}, "the control stream has no $INPUT, which names the columns of the data")
	case p.data == nil:
		return faultf(place{}, "the control stream has no $DATA")
	case len(p.codes["PRED"]) == 0 && (len(p.codes["PK"]) == 0 || len(p.codes["ERROR"]) == 0):
		return faultf(place{}, "the control stream has neither $PRED nor $PK and $ERROR")
	case !c.pred && c.advan == 0:
		return faultf(place{}, "the control stream has no $SUBROUTINES that names an ADVAN")
	case slices.Contains(general, c.advan) && len(p.codes["DES"]) == 0:
		return faultf(c.at, "ADVAN%d needs $DES", c.advan)
	}
	return nil
}

// read reads the statements of a record of code.
func (c *control) read(name string, r record) error {
	start := r.start
	if name == "ERROR" { // $ERROR (ONLY OBSERVATIONS)
		p := &words{text: c.text, pos: start, end: r.end}
		p.space(false)
		if p.pos < p.end && p.text[p.pos] == '(' {
			if _, err := p.bracket(); err != nil {
				return err
			}
			start = p.pos
		}
	}
	list, err := tokens(c.text, start, r.end)
	if err != nil {
		return err
	}
	body, err := code(list, c.rename)
	c.code[name] = append(c.code[name], body...)
	return err
}

// abbreviated reads $ABBR REPLACE THETA(CL)=THETA(1).
func (c *control) abbreviated(r record) error {
	list, err := tokens(c.text, r.start, r.end)
	if err != nil {
		return err
	}
	k := &coder{list: list}
	for k.take('\n') {
	}
	if k.word("COMRES") || k.word("DERIV1") || k.word("DERIV2") || k.word("PROTECT") || k.word("FASTDER") ||
		k.word("NOFASTDER") || k.word("CHECKMU") || k.word("NOCHECKMU") || k.word("DES") {
		return nil
	}
	if !k.word("REPLACE") {
		return faultf(r.at, "of $ABBR only REPLACE is read, as in REPLACE THETA(CL)=THETA(1)")
	}
	from, err := k.operand()
	if err == nil {
		err = k.expect('=', "=")
	}
	var to *node
	if err == nil {
		to, err = k.operand()
	}
	if err != nil {
		return err
	}
	n, ok := index(to)
	if from.kind != '(' || len(from.args) != 1 || from.args[0].kind != 'w' || !ok {
		return faultf(r.at, "this $ABBR REPLACE is not read; write THETA(CL)=THETA(1), and the effects of "+
			"occasions by IF")
	}
	label := from.args[0].text
	c.rename[from.text+"("+label+")"] = element(to.text, n)
	if to.text == "THETA" {
		for len(c.names) < n {
			c.names = append(c.names, "")
		}
		c.names[n-1] = label
	}
	return nil
}

// estimation reads $ESTIMATION. Of several records each goes on from the one before, so that the last one that
// estimates says of what the estimates are the least.
func (c *control) estimation(r record) error {
	list, err := options(c.text, r.start, r.end)
	if err != nil {
		return err
	}
	e := estimator{at: r.at, draws: "1000", seed: "1"}
	for _, it := range list {
		key, value := strings.ToUpper(it.key), strings.ToUpper(it.value)
		is := func(full string, least int) bool { return len(key) >= least && strings.HasPrefix(full, key) }
		switch {
		case is("METHOD", 4):
			e.method = value
		case is("LAPLACIAN", 3), is("LAPLACE", 3):
			e.laplace = value == "" || value != "0"
		case is("INTERACTION", 3):
			e.interaction = true
		case is("LIKELIHOOD", 4), strings.HasPrefix(key, "-2L"):
			return faultf(it.at, "%s: Y is a likelihood there; odes has it for values below a limit (F_FLAG), and "+
				"noises of "+
				"other kinds are written in the translation", it.key)
		case is("CENTERING", 4), key == "STIELTJES":
			return faultf(it.at, "%s changes the objective in a way that odes does not have: take it out", it.key)
		case is("EONLY", 3):
			e.only = value == "1"
		case is("MAXEVALUATIONS", 3) && value == "0":
			c.left("MAXEVAL=0 (line %d): `odes sens` computes the objective at the values of the text", it.at)
		case is("ISAMPLE", 5) || is("SEED", 4):
			n, ok := readNumber(value)
			if !ok || n < 1 || n != math.Trunc(n) {
				return faultf(it.at, "%s is a whole number, and not %q", it.key, it.value)
			}
			if value = fmt.Sprintf("%.0f", n); is("SEED", 4) {
				e.seed = value
			} else {
				e.draws = value
			}
		}
	}
	return c.estimate(e)
}

// estimator is what a record $ESTIMATION says.
type estimator struct {
	at                         place
	method                     string
	laplace, interaction, only bool
	draws, seed                string
}

// estimate does what it says, as far as odes has it.
func (c *control) estimate(e estimator) error {
	method := e.method
	cut := func(full string, least int) bool { return len(method) >= least && strings.HasPrefix(full, method) }
	marginal := ""
	switch {
	case method == "" || method == "0" || method == "ZERO":
		marginal = "fo"
	case method == "1" || cut("CONDITIONAL", 3):
		if marginal = "foce"; e.interaction {
			marginal = "focei"
		}
	case method == "ITS":
		marginal = "focei"
		c.left("METHOD=ITS (line %d): odes seeks the minimum of the objective about the modes, which is where ITS goes",
			e.at)
	case method == "IMP" || method == "IMPMAP" || method == "DIRECT":
		marginal = "imp(n = " + e.draws + ", seed = " + e.seed + ")"
		if e.only && c.marginal != "" && c.algorithm == "" {
			c.left("METHOD="+method+" with EONLY=1 (line %d) estimates nothing, and is left out: `odes sens "+
				"--solver.marginal=\""+marginal+"\"` computes its objective at the estimates", e.at)
			return nil
		}
	case method == "SAEM":
		c.saem, c.algorithm, c.marginal = e.at, "saem", "imp(n = 1000, seed = 1)"
		return nil
	case method == "BAYES" || method == "NUTS" || method == "CHAIN":
		c.left("METHOD="+method+" (line %d) is left out: `odes sample` draws from the posterior", e.at)
		return nil
	default:
		return faultf(e.at, "METHOD=%s is not read in $ESTIMATION", method)
	}
	if imp := strings.HasPrefix(marginal, "imp"); !imp {
		if e.laplace {
			marginal = "laplace"
		}
		if c.algorithm != "" { // saem comes near the maximum of another likelihood
			c.left("METHOD=SAEM (line %d) is left out: a record after it estimates by another method", c.saem)
			c.algorithm = ""
		}
	}
	c.marginal = marginal
	return nil
}

// checkData reports tables that mean something else to odes, or nothing.
func (c *control) checkData() error {
	t := c.data
	if t.column("ID") == nil {
		return faultf(t.at, "no column is ID: odes reads data of populations, with the subject in each row")
	}
	if t.column("DV") == nil {
		return faultf(t.at, "no column of $INPUT is DV")
	}
	if !c.pred && t.column("TIME") == nil {
		return faultf(t.at, "no column of $INPUT is TIME")
	}
	c.observed = t.observed(c.pred)
	if len(c.observed) == 0 {
		return faultf(t.at, "the table has no measurement: all rows are doses, or have MDV or EVID")
	}
	ids, last := t.column("ID"), map[float64]int{}
	for i, id := range ids {
		if at, ok := last[id]; ok && at != i-1 {
			return faultf(t.at, "the rows of ID %v stand in separate pieces of the table, which NONMEM takes as "+
				"subjects of "+
				"their own: give them different numbers", id)
		}
		last[id] = i
	}
	for i := range t.rows {
		k := t.get("CMT", i)
		if k < 0 {
			return faultf(t.at, "a row has CMT %v: compartments that are turned off are not read", k)
		}
	}
	dv := slices.Index(t.columns, "DV")
	empty := 0
	for _, i := range c.observed {
		if t.rows[i][dv].missing {
			empty++
		}
	}
	if empty > 0 {
		c.warn(t.at, "%d measurements have no DV, which NONMEM takes as 0 unless MDV is 1; they are left out here",
			empty)
	}
	times := t.column("TIME")
	if c.pred {
		c.indexed = times == nil
		for i := 1; i < len(times); i++ {
			c.indexed = c.indexed || ids[i] == ids[i-1] && !(times[i] > times[i-1])
		}
		return nil
	}
	if t.clock {
		if err := c.clocks(ids, times); err != nil {
			return err
		}
	}
	return c.ascend(ids, times)
}

// clocks makes hours since the first row of each subject of clock times.
func (c *control) clocks(ids, times []float64) error {
	var first float64
	for i, id := range ids { // clock times count from the first row of a subject
		if i == 0 || id != ids[i-1] {
			first = times[i]
		}
		if times[i] -= first; times[i] < 0 {
			return faultf(c.data.at, "clock times go back within a subject, to another day: compute TIME in hours")
		}
	}
	return nil
}

// ascend lets times of a subject go on that go back with a reset: a subject is one run, with its effects.
func (c *control) ascend(ids, times []float64) error {
	const reset = 3
	shift := 0.0
	for i := range ids {
		switch {
		case i == 0 || ids[i] != ids[i-1]:
			shift = 0
		case times[i]+shift < times[i-1] && c.data.get("EVID", i) < reset:
			return faultf(c.data.at, "TIME goes back within ID %v, from %v to %v, without EVID 3 or 4", ids[i],
				times[i-1]-shift, times[i])
		case times[i]+shift < times[i-1]:
			shift = math.Ceil(times[i-1]) + 1 - times[i]
			c.shifted = true
		}
		times[i] += shift
	}
	if c.shifted {
		c.data.skipped = true
		c.left("the times of occasions that begin anew (EVID 3 or 4) go on from the last", c.data.at)
	}
	for i := range times {
		c.data.rows[i][slices.Index(c.data.columns, "TIME")].value = times[i]
	}
	return nil
}
