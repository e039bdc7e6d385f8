package nonmem

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// estimate is a THETA: where its search begins and its bounds.
type estimate struct {
	value, low, high float64
	fixed            bool
	midway           bool // no value is written: it is midway between the bounds
	label, comment   string
	at               place
}

// block is a part of $OMEGA or $SIGMA: a matrix of covariances, or of variances alone.
type block struct {
	first, n int // of which effects, from 1
	cov      [][]float64
	block    bool // BLOCK(n) with n above 1
	fixed    []bool
	repeats  *block // SAME: the block before it, with the same numbers
	labels   []string
	comments []string
	at       place
}

// list reads the words of a record of initial values: brackets, numbers and words, each with the comment of its line.
type entry struct {
	text    string
	bracket bool
	name    string // before =, as in CL=(0,1)
	comment string
	at      place
}

func entries(text string, start, end int) (list []entry, err error) {
	p := &words{text: text, pos: start, end: end}
	lineFrom := 0 // the first entry of the line
	for {
		// What a comment says is of the entries of its line.
		for p.pos < p.end && strings.IndexByte(" \t\r\n,&", p.text[p.pos]) >= 0 {
			if p.text[p.pos] == '\n' {
				lineFrom = len(list)
			}
			p.pos++
		}
		if p.pos >= p.end {
			return list, nil
		}
		from := p.pos
		if p.text[p.pos] == ';' {
			p.space(false)
			line, _, _ := strings.Cut(p.text[from+1:p.pos], "\n")
			for i := lineFrom; i < len(list); i++ {
				list[i].comment = strings.TrimSpace(strings.TrimLeft(line, ";"))
			}
			lineFrom = len(list)
			continue
		}
		e := entry{}
		if p.text[p.pos] != '(' {
			e.text = p.plain("(, \t\r\n;=")
			if e.text == "" && p.pos < p.end && p.text[p.pos] == '=' {
				return nil, faultf(place{p.pos, p.pos + 1}, "= does not belong here")
			}
			mark := p.pos
			p.space(false)
			if p.pos < p.end && p.text[p.pos] == '=' {
				p.pos++
				p.space(false)
				e.name, e.text = e.text, ""
				if p.pos < p.end && p.text[p.pos] != '(' {
					e.text = p.plain("(, \t\r\n;=")
				}
			} else {
				p.pos = mark
			}
		}
		if e.text == "" && p.pos < p.end && p.text[p.pos] == '(' {
			if e.text, err = p.bracket(); err != nil {
				return nil, err
			}
			e.bracket = true
		}
		if e.at = (place{from, p.pos}); p.pos == from {
			return nil, faultf(place{from, from + 1}, "%q does not belong here", p.text[from:from+1])
		}
		list = append(list, e)
	}
}

// repeat is how often ( … )x3 is there, if an entry is that x3.
func repeat(text string) (int, bool) {
	if len(text) < 2 || text[0]|0x20 != 'x' {
		return 0, false
	}
	n, err := strconv.Atoi(text[1:])
	const most = 1000
	return n, err == nil && n > 0 && n <= most
}

func isFix(word string) bool {
	word = strings.ToUpper(word)
	return len(word) >= 3 && strings.HasPrefix("FIXED", word)
}

// bound is a bound of a THETA; a million stands for infinity.
func bound(text string) (float64, bool) {
	const infinity = 1e6
	switch strings.ToUpper(text) {
	case "INF", "+INF":
		return math.Inf(1), true
	case "-INF":
		return math.Inf(-1), true
	}
	x, ok := readNumber(text)
	if math.Abs(x) >= infinity {
		x = math.Copysign(math.Inf(1), x)
	}
	return x, ok
}

// thetas reads $THETA.
func thetas(text string, r record) (list []estimate, err error) {
	all, err := entries(text, r.start, r.end)
	if err != nil {
		return nil, err
	}
	var labels []string
	for i := 0; i < len(all); i++ {
		e := all[i]
		upper := strings.ToUpper(e.text)
		if !e.bracket {
			switch {
			case isFix(e.text) && len(list) > 0:
				list[len(list)-1].fixed = true
				continue
			case upper == "NOABORT" || upper == "ABORT" || upper == "NOABORTFIRST" || upper == "NOPRIOR" ||
				strings.HasPrefix(strings.ToUpper(e.name), "NUM"):
				continue
			case upper == "NAMES" && i+1 < len(all) && all[i+1].bracket:
				labels = strings.FieldsFunc(all[i+1].text, func(c rune) bool { return c == ',' || c == ' ' })
				i++
				continue
			}
			if n, ok := repeat(e.text); ok && len(list) > 0 {
				for range n - 1 {
					list = append(list, list[len(list)-1])
				}
				continue
			}
		}
		t, err := oneTheta(e)
		if err != nil {
			return nil, err
		}
		if len(list) < len(labels) {
			t.label = labels[len(list)]
		}
		list = append(list, t)
	}
	return list, nil
}

func oneTheta(e entry) (estimate, error) {
	t := estimate{low: math.Inf(-1), high: math.Inf(1), comment: e.comment, label: e.name, at: e.at}
	parts := []string{e.text}
	if e.bracket {
		// Commas separate three values, of which the middle one may be missing; so do blanks.
		parts = nil
		for part := range strings.SplitSeq(e.text, ",") {
			words := strings.Fields(part)
			if len(words) == 0 {
				words = []string{""}
			}
			for _, w := range words {
				if isFix(w) {
					t.fixed = true
				} else {
					parts = append(parts, w)
				}
			}
		}
		for len(parts) > 1 && parts[len(parts)-1] == "" {
			parts = parts[:len(parts)-1]
		}
	}
	bad := func(what string) (estimate, error) {
		return t, faultf(e.at, "%q is no value of a THETA; one is written (low, initial, high), 0.5 or 0.5 FIX", what)
	}
	const most = 3
	if len(parts) > most || len(parts) == 0 {
		return bad(e.text)
	}
	ok := true
	at := 0
	if len(parts) > 1 {
		at = 1
		if t.low, ok = bound(parts[0]); !ok {
			return bad(parts[0])
		}
	}
	if len(parts) == most {
		if t.high, ok = bound(parts[2]); !ok {
			return bad(parts[2])
		}
	}
	if parts[at] == "" {
		if math.IsInf(t.low, 0) || math.IsInf(t.high, 0) {
			return t, faultf(e.at, "this THETA has no initial value: write one between its bounds")
		}
		t.value, t.midway = t.low+(t.high-t.low)/2, true
	} else if t.value, ok = readNumber(parts[at]); !ok {
		return bad(parts[at])
	}
	if t.low == t.high && t.low == t.value {
		t.fixed = true
	}
	if !(t.value >= t.low && t.value <= t.high) {
		return t, faultf(e.at, "the initial value %v of this THETA is outside of its bounds", t.value)
	}
	return t, nil
}

// matrix collects $OMEGA or $SIGMA records.
type matrix struct {
	what   string // OMEGA or SIGMA
	blocks []*block
	n      int
}

// scale says how the numbers of a block are meant.
type scale struct{ sd, corr, chol bool }

func (s *scale) word(word string) bool {
	word = strings.ToUpper(word)
	is := func(full string, least int) bool { return len(word) >= least && strings.HasPrefix(full, word) }
	switch {
	case word == "SD", is("STANDARD", 2):
		s.sd = true
	case is("CORRELATION", 4):
		s.corr = true
	case is("CHOLESKY", 4):
		s.chol = true
	case is("VARIANCE", 3), is("COVARIANCE", 3), word == "UNINT", word == "NOPRIOR":
	default:
		return false
	}
	return true
}

// read reads one record.
func (m *matrix) read(text string, r record) error {
	all, err := entries(text, r.start, r.end)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return nil
	}
	all = optionsLast(all)
	size, rest, known := 1, all[1:], false
	kind := strings.ToUpper(all[0].text)
	if all[0].bracket || kind == "" || !isLetter(kind[0]) || isFix(kind) {
		return m.diagonal(all)
	}
	if len(rest) > 0 && rest[0].bracket && (kind == "BLOCK" || isDiagonal(kind)) {
		size, err = strconv.Atoi(strings.TrimSpace(rest[0].text))
		const most = 100
		if known = err == nil && size > 0 && size <= most; !known {
			return faultf(rest[0].at, "%q is no number of effects", rest[0].text)
		}
		rest = rest[1:]
	}
	switch {
	case isDiagonal(kind):
		before := m.n
		if err := m.diagonal(rest); err != nil {
			return err
		}
		if known && m.n-before != size {
			return faultf(all[0].at, "DIAGONAL(%d) has %d numbers", size, m.n-before)
		}
		return nil
	case kind == "BLOCK":
		return m.block(all[0].at, rest, size, known)
	}
	return m.diagonal(all)
}

// optionsLast moves BLOCK(n) or DIAGONAL(n) before the options that it may stand behind.
func optionsLast(all []entry) []entry {
	for i, e := range all {
		word := strings.ToUpper(e.text)
		switch {
		case e.bracket || e.name != "":
			return all
		case word == "BLOCK" || isDiagonal(word):
			end := i + 1
			if end < len(all) && all[end].bracket {
				end++
			}
			return slices.Concat(all[i:end], all[:i], all[end:])
		case !isFix(word) && !new(scale).word(word):
			return all
		}
	}
	return all
}

func isDiagonal(word string) bool {
	const least = 4
	return len(word) >= least && strings.HasPrefix("DIAGONAL", word)
}

// add takes a block of variances.
func (m *matrix) add(b *block) {
	b.first = m.n + 1
	m.n += b.n
	m.blocks = append(m.blocks, b)
}

// diagonal reads variances, each of which is a block of its own.
func (m *matrix) diagonal(all []entry) error {
	var common scale
	var last *block
	for _, e := range all {
		words := []string{e.text}
		if e.bracket {
			words = strings.FieldsFunc(e.text, func(c rune) bool { return strings.ContainsRune(" ,\t\r\n", c) })
		} else if n, ok := repeat(e.text); ok && last != nil {
			for range n - 1 {
				again := *last
				m.add(&again)
			}
			continue
		}
		own, fixed := common, false
		var value float64
		found := false
		for _, w := range words {
			x, ok := readNumber(w)
			switch {
			case ok && !found:
				value, found = x, true
			case isFix(w):
				fixed = true
			case own.word(w):
			default:
				return faultf(e.at, "%q is not read in $%s", w, m.what)
			}
		}
		switch {
		case !found && fixed && last != nil:
			last.fixed[0] = true
		case !found && fixed:
			return faultf(e.at, "FIX stands before the numbers of $%s: write it behind each that is fixed", m.what)
		case !found && last == nil:
			common = own
		case !found: // an option behind a number is of that number
			if own.sd && !common.sd {
				last.cov[0][0] *= last.cov[0][0]
			}
		default:
			if own.sd || own.chol {
				value *= value
			}
			if !(value >= 0) || math.IsInf(value, 0) {
				return faultf(e.at, "a variance is negative or too large: %v", value)
			}
			last = &block{
				n: 1, cov: [][]float64{{value}}, fixed: []bool{fixed}, labels: []string{e.name},
				comments: []string{e.comment}, at: e.at,
			}
			m.add(last)
		}
	}
	return nil
}

// triangle returns the lower triangle of a matrix that VALUES(diagonal, others) gives; list begins with that word.
func (m *matrix) triangle(list []entry, word string, n int) (values []float64, err error) {
	if word != "VALUES" || len(list) < 2 || !list[1].bracket {
		return nil, faultf(list[0].at, "%s is not read there in $%s: write the numbers of the lower triangle", word,
			m.what)
	}
	e := list[1]
	words := strings.FieldsFunc(e.text, func(c rune) bool { return strings.ContainsRune(" ,\t\r\n", c) })
	var x [2]float64
	ok := len(words) == len(x)
	for k := 0; ok && k < len(x); k++ {
		x[k], ok = readNumber(words[k])
	}
	if !ok {
		return nil, faultf(e.at, "VALUES has two numbers, for the diagonal and for the rest: VALUES(0.1, 0.01)")
	}
	for i := range n {
		values = append(values, slices.Repeat(x[1:], i)...)
		values = append(values, x[0])
	}
	return values, nil
}

// block reads BLOCK(n).
func (m *matrix) block(at place, all []entry, n int, known bool) error {
	b := &block{n: n, block: n > 1, at: at}
	var s scale
	fixed := false
	var values []float64
	for i := 0; i < len(all); i++ {
		e := all[i]
		upper := strings.ToUpper(e.text)
		if upper == "SAME" && !e.bracket {
			times := 1
			if i+1 < len(all) && all[i+1].bracket {
				var err error
				const most = 1000
				if times, err = strconv.Atoi(strings.TrimSpace(all[i+1].text)); err != nil || times < 1 ||
					times > most {
					return faultf(all[i+1].at, "SAME has a number of blocks: SAME(2)")
				}
			}
			return m.same(at, times, n, known)
		}
		words := []string{e.text}
		if e.bracket {
			words = strings.FieldsFunc(e.text, func(c rune) bool { return strings.ContainsRune(" ,\t\r\n", c) })
		}
		if upper == "VALUES" || upper == "NAMES" {
			i++
			var err error
			if values, err = m.triangle(all[i-1:], upper, n); err != nil {
				return err
			}
			continue
		}
		if k, ok := repeat(e.text); ok && !e.bracket && len(values) > 0 {
			for range k - 1 {
				values = append(values, values[len(values)-1])
			}
			continue
		}
		for _, w := range words {
			x, ok := readNumber(w)
			switch {
			case ok:
				values = append(values, x)
				if k := len(b.comments); len(values) == (k+1)*(k+2)/2 { // of a diagonal element
					b.comments, b.labels = append(b.comments, e.comment), append(b.labels, e.name)
				}
			case isFix(w):
				fixed = true
			case s.word(w):
			default:
				return faultf(e.at, "%q is not read in $%s", w, m.what)
			}
		}
	}
	if len(values) != n*(n+1)/2 {
		return faultf(at, "BLOCK(%d) has %d numbers, those of the lower triangle, and here are %d", n, n*(n+1)/2,
			len(values))
	}
	for len(b.comments) < n {
		b.comments, b.labels = append(b.comments, ""), append(b.labels, "")
	}
	b.cov = make([][]float64, n)
	for i := range n {
		b.cov[i] = make([]float64, n)
		b.fixed = append(b.fixed, fixed)
	}
	for i := range n {
		for j := range i + 1 {
			b.cov[i][j] = values[i*(i+1)/2+j]
			b.cov[j][i] = b.cov[i][j]
		}
	}
	b.rescale(s)
	if !positive(b.cov) && !(fixed && zero(b.cov)) {
		return faultf(at, "this block of $%s is not positive definite", m.what)
	}
	m.add(b)
	return nil
}

// same adds blocks with the numbers of the one before.
func (m *matrix) same(at place, times, n int, known bool) error {
	if len(m.blocks) == 0 {
		return faultf(at, "SAME has no block before it")
	}
	last := m.blocks[len(m.blocks)-1]
	if last.repeats != nil {
		last = last.repeats
	}
	if known && n != last.n {
		return faultf(at, "BLOCK(%d) SAME stands behind a block of %d", n, last.n)
	}
	for range times {
		m.add(&block{
			n: last.n, cov: last.cov, block: last.block, fixed: last.fixed, repeats: last, at: at,
			labels: last.labels, comments: make([]string, last.n),
		})
	}
	return nil
}

// rescale makes covariances of standard deviations, correlations or a Cholesky factor.
func (b *block) rescale(s scale) {
	n := b.n
	if s.chol {
		l := b.cov
		b.cov = make([][]float64, n)
		for i := range n {
			b.cov[i] = make([]float64, n)
			for j := range n {
				for k := range min(i, j) + 1 {
					b.cov[i][j] += l[i][k] * l[j][k]
				}
			}
		}
		return
	}
	for i := range n {
		if s.sd {
			b.cov[i][i] *= b.cov[i][i]
		}
	}
	if s.corr {
		for i := range n {
			for j := range n {
				if i != j {
					b.cov[i][j] *= math.Sqrt(b.cov[i][i] * b.cov[j][j])
				}
			}
		}
	}
}

func zero(a [][]float64) bool {
	for _, row := range a {
		for _, x := range row {
			if x != 0 {
				return false
			}
		}
	}
	return true
}

// positive reports whether a matrix is positive definite.
func positive(a [][]float64) bool { return factor(a) != nil }

// factor is the lower Cholesky factor of a matrix; nil where it is not positive definite.
func factor(a [][]float64) [][]float64 {
	n := len(a)
	l := make([][]float64, n)
	for i := range n {
		l[i] = make([]float64, n)
		for j := range i + 1 {
			x := a[i][j]
			for k := range j {
				x -= float64(l[i][k] * l[j][k])
			}
			switch {
			case i != j:
				l[i][j] = x / l[j][j]
			case !(x > 0) || math.IsInf(x, 0):
				return nil
			default:
				l[i][i] = math.Sqrt(x)
			}
		}
	}
	return l
}
