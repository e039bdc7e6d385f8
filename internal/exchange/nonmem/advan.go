package nonmem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// compartment is one of the model: a state.
type compartment struct {
	name string // in small letters, or ""
	rate *expr
}

func element(name string, i int) string { return fmt.Sprintf("%s(%d)", name, i) }

// advan is a model of NONMEM's library.
type advan struct {
	names           []string
	dose, central   int // from 1
	parameterations map[string][]string
}

// library are the models that are written out, by their numbers.
var library = map[int]advan{
	1: {[]string{"central"}, 1, 1, map[string][]string{"1": {"K"}, "2": {"CL", "V"}}},
	2: {[]string{"depot", "central"}, 1, 2, map[string][]string{"1": {"KA", "K"}, "2": {"KA", "CL", "V"}}},
	3: {[]string{"central", "peripheral"}, 1, 1, map[string][]string{
		"1": {"K", "K12", "K21"}, "3": {"CL", "V", "Q", "VSS"}, "4": {"CL", "V1", "Q", "V2"}, "5": {
			"AOB", "ALPHA",
			"BETA",
		},
		"6": {"ALPHA", "BETA", "K21"},
	}},
	4: {[]string{"depot", "central", "peripheral"}, 1, 2, map[string][]string{
		"1": {"KA", "K", "K23", "K32"}, "3": {"KA", "CL", "V", "Q", "VSS"}, "4": {"KA", "CL", "V2", "Q", "V3"},
		"5": {"KA", "AOB", "ALPHA", "BETA"}, "6": {"KA", "ALPHA", "BETA", "K32"},
	}},
	10: {[]string{"central"}, 1, 1, map[string][]string{"1": {"VM", "KM"}}},
	11: {[]string{"central", "peripheral1", "peripheral2"}, 1, 1, map[string][]string{
		"1": {"K", "K12", "K21", "K13", "K31"}, "4": {"CL", "V1", "Q2", "V2", "Q3", "V3"},
	}},
	12: {[]string{"depot", "central", "peripheral1", "peripheral2"}, 1, 2, map[string][]string{
		"1": {"KA", "K", "K23", "K32", "K24", "K42"}, "4": {"KA", "CL", "V2", "Q3", "V3", "Q4", "V4"},
	}},
}

// general are models whose equations stand in $DES.
var general = []int{6, 8, 9, 13, 14, 15, 16, 17, 18}

// linearOnes have constants K12 between compartments of $MODEL.
var linearOnes = []int{5, 7}

// subroutines reads ADVAN and TRANS.
func (c *control) subroutines(r record) error {
	list, err := options(c.text, r.start, r.end)
	if err != nil {
		return err
	}
	for _, it := range list {
		key, value := strings.ToUpper(it.key), strings.ToUpper(it.value)
		if key == "SUBROUTINES" || key == "SUBROUTINE" || key == "ADVAN" || key == "TRANS" {
			key = value
		}
		advan, isAdvan := strings.CutPrefix(key, "ADVAN")
		trans, isTrans := strings.CutPrefix(key, "TRANS")
		switch {
		case isAdvan:
			if c.advan, err = strconv.Atoi(advan); err != nil {
				return faultf(it.at, "%q is no ADVAN", it.key)
			}
			if _, ok := library[c.advan]; !ok && !slices.Contains(general, c.advan) && !slices.Contains(linearOnes,
				c.advan) {
				return faultf(it.at, "ADVAN%d is not read: write the model by $DES and ADVAN13", c.advan)
			}
			if c.advan == 9 || c.advan > 14 {
				return faultf(it.at, "ADVAN%d, with algebraic equations or delays, is not read", c.advan)
			}
		case isTrans:
			c.trans = trans
		case strings.HasPrefix(key, "TOL"), strings.HasPrefix(key, "ATOL"), strings.HasPrefix(key, "SSTOL"),
			strings.HasPrefix(key, "SSATOL"), it.bracket:
		default:
			return faultf(it.at, "%s is not read in $SUBROUTINES: odes has no subroutines of users", it.key)
		}
	}
	return nil
}

// model reads $MODEL.
func (c *control) model(r record) error {
	list, err := options(c.text, r.start, r.end)
	if err != nil {
		return err
	}
	for _, it := range list {
		key := strings.ToUpper(it.key)
		switch {
		case strings.HasPrefix(key, "COMP"):
			words := strings.FieldsFunc(strings.ToUpper(it.value), func(x rune) bool {
				return strings.ContainsRune(" ,\t\r\n'\"", x)
			})
			k := compartment{}
			number := len(c.compartments) + 1
			for _, w := range words {
				switch {
				case strings.HasPrefix(w, "DEFDOS"):
					c.dose = number
				case strings.HasPrefix(w, "DEFOBS"):
					c.central = number
				case strings.HasPrefix(w, "NOOFF"), strings.HasPrefix(w, "NODOS"):
				case strings.HasPrefix(w, "INITIALOFF"), strings.HasPrefix(w, "EQUIL"):
					return faultf(it.at, "compartments that are %s are not read", w)
				case k.name == "":
					if plainName(w) {
						k.name = strings.ToLower(w)
					}
				}
			}
			c.compartments = append(c.compartments, k)
		case strings.HasPrefix(key, "NCOM"), strings.HasPrefix(key, "NEQ"), strings.HasPrefix(key, "NPAR"),
			strings.HasPrefix(key, "NDE"):
			n, err := strconv.Atoi(it.value)
			const most = 999
			if err != nil || n < 1 || n > most {
				return faultf(it.at, "%s is a number of at most %d here", it.key, most)
			}
			if strings.HasPrefix(key, "NC") {
				c.count = n
			}
		default:
			return faultf(it.at, "%s is not read in $MODEL", it.key)
		}
	}
	return nil
}

// build makes the compartments of the model, with their rates.
func (c *control) build() error {
	lib, ok := library[c.advan]
	if ok {
		c.dose, c.central = lib.dose, lib.central
		for _, name := range lib.names {
			c.compartments = append(c.compartments, compartment{name: name})
		}
		return nil
	}
	for len(c.compartments) < c.count {
		c.compartments = append(c.compartments, compartment{})
	}
	if len(c.compartments) == 0 {
		return faultf(c.at, "ADVAN%d needs compartments: $MODEL COMP=(CENTRAL)", c.advan)
	}
	named := func(name string) int {
		for i, k := range c.compartments {
			if k.name == name {
				return i + 1
			}
		}
		return 1
	}
	if c.dose == 0 {
		c.dose = named("depot")
	}
	if c.central == 0 {
		c.central = named("central")
	}
	return nil
}

// rates makes the rates of a model of the library.
func (c *control) rates(pk *scope) error {
	lib, ok := library[c.advan]
	if !ok {
		return c.linearRates(pk)
	}
	trans := c.trans
	if trans == "" {
		trans = "1"
	}
	needs := lib.parameterations[trans]
	if needs == nil {
		return faultf(c.at, "ADVAN%d TRANS%s is not read", c.advan, trans)
	}
	m := c.m
	p := map[string]*expr{}
	for _, name := range needs {
		e := pk.get(name)
		if e == nil {
			return faultf(c.at, "ADVAN%d TRANS%s needs %s, which $PK does not set", c.advan, trans, name)
		}
		p[name] = e
	}
	do := func(o op, a, b *expr) *expr { return m.apply(o, "", c.at, a, b) }
	ratio := func(a, b string) *expr { return do(div, p[a], p[b]) }
	switch {
	case c.advan == 10:
		a := m.make(expr{op: state, n: 1})
		c.compartments[0].rate = m.apply(neg, "", c.at, do(div, do(mul, p["VM"], a), do(add, p["KM"], a)))
		return nil
	case trans == "2":
		p["K"] = ratio("CL", "V")
	case trans == "3":
		p["K"] = ratio("CL", "V")
		out, back := names2(c.advan)
		p[out], p[back] = ratio("Q", "V"), do(div, p["Q"], do(sub, p["VSS"], p["V"]))
	case trans == "4":
		c.volumes(p, ratio)
	case trans == "5", trans == "6":
		out, back := names2(c.advan)
		if trans == "5" {
			one := m.num(1)
			p[back] = do(div, do(add, do(mul, p["AOB"], p["BETA"]), p["ALPHA"]), do(add, p["AOB"], one))
		}
		p["K"] = do(div, do(mul, p["ALPHA"], p["BETA"]), p[back])
		p[out] = do(sub, do(sub, do(add, p["ALPHA"], p["BETA"]), p[back]), p["K"])
	}
	first := lib.central
	c.flow(p["KA"], 1, first)
	for other := first + 1; other <= len(c.compartments); other++ {
		c.flow(p[fmt.Sprintf("K%d%d", first, other)], first, other)
		c.flow(p[fmt.Sprintf("K%d%d", other, first)], other, first)
	}
	c.flow(p["K"], first, 0)
	return nil
}

// names2 are the constants between central and peripheral compartment.
func names2(advan int) (out, back string) {
	if advan == 3 {
		return "K12", "K21"
	}
	return "K23", "K32"
}

// volumes makes constants of clearances and volumes, TRANS4.
func (c *control) volumes(p map[string]*expr, ratio func(a, b string) *expr) {
	first := library[c.advan].central
	central := fmt.Sprintf("V%d", first)
	p["K"] = ratio("CL", central)
	for other := first + 1; other <= len(c.compartments); other++ {
		q := fmt.Sprintf("Q%d", other)
		if p[q] == nil {
			q = "Q"
		}
		p[fmt.Sprintf("K%d%d", first, other)] = ratio(q, central)
		p[fmt.Sprintf("K%d%d", other, first)] = ratio(q, fmt.Sprintf("V%d", other))
	}
}

// flow adds a constant times an amount to the rates of two compartments; 0 is outside.
func (c *control) flow(k *expr, from, to int) {
	if k == nil || from == to {
		return
	}
	m := c.m
	term := m.apply(mul, "", c.at, k, m.make(expr{op: state, n: from}))
	if k := &c.compartments[from-1]; k.rate == nil {
		k.rate = m.apply(neg, "", c.at, term)
	} else {
		k.rate = m.apply(sub, "", c.at, k.rate, term)
	}
	if to > 0 {
		if k := &c.compartments[to-1]; k.rate == nil {
			k.rate = term
		} else {
			k.rate = m.apply(add, "", c.at, k.rate, term)
		}
	}
}

// linearRates makes the rates of ADVAN5 and ADVAN7, of constants K12 or K1T2 from compartment 1 to 2.
func (c *control) linearRates(pk *scope) error {
	n := len(c.compartments)
	for _, name := range pk.order {
		rest, ok := strings.CutPrefix(name, "K")
		if !ok || rest == "" {
			continue
		}
		a, b, ok := strings.Cut(rest, "T")
		if !ok {
			if len(rest) != 2 {
				continue
			}
			a, b = rest[:1], rest[1:]
		}
		from, err1 := strconv.Atoi(a)
		to, err2 := strconv.Atoi(b)
		if to == n+1 {
			to = 0
		}
		if err1 != nil || err2 != nil || from < 1 || from > n || to < 0 || to > n {
			continue
		}
		c.flow(pk.get(name), from, to)
	}
	for i := range c.compartments {
		if k := &c.compartments[i]; k.rate == nil {
			k.rate = c.m.num(0)
		}
	}
	return nil
}

// prediction is F: the amount in the observed compartment over its scale.
func (c *control) prediction(at place) *expr {
	m := c.m
	of := func(i int) *expr {
		a := m.make(expr{op: state, n: i})
		names := []string{fmt.Sprintf("S%d", i)}
		if i == c.central && library[c.advan].names != nil {
			names = append(names, "SC")
		}
		for _, name := range names {
			if s := c.pk.get(name); s != nil {
				f := m.apply(div, "", at, a, s)
				return m.make(expr{op: local, def: &assignment{name: "F", body: f, at: at, in: "ERROR"}, at: at})
			}
		}
		return a
	}
	seen := c.observedCompartments()
	if len(seen) == 1 {
		return of(seen[0])
	}
	e := of(seen[len(seen)-1])
	for _, i := range seen[:len(seen)-1] {
		which := m.make(expr{op: column, name: "CMT"})
		var when *expr
		compare := &runner{control: c, decide: c.decide}
		if when = compare.compare("==", which, m.num(float64(i)), at); i == c.central {
			when = m.apply(or, "", at, when, compare.compare("==", which, m.num(0), at))
		}
		e = m.apply(choice, "", at, when, of(i), e)
	}
	return e
}

// observedCompartments are those that rows of measurements name; the default one stands before the others.
func (c *control) observedCompartments() []int {
	list := []int{}
	for _, row := range c.observed {
		k := int(c.data.get("CMT", row))
		if k == 0 {
			k = c.central
		}
		if !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	if len(list) == 0 {
		list = []int{c.central}
	}
	return list
}
