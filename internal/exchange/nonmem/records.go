package nonmem

import (
	"strings"
)

// record is a part of a control stream: $PK and what follows, up to the next record.
type record struct {
	name  string // in full and in capital letters, without $
	at    place  // of the name
	start int    // of what follows the name
	end   int
}

// names are those of records, which may be cut after three letters; what is done about them says kinds.
var names = []string{
	"PROBLEM", "INPUT", "DATA", "INFILE", "SUBROUTINES", "MODEL", "PK", "DES", "ERROR", "PRED", "THETA", "OMEGA",
	"SIGMA",
	"ESTIMATION", "ESTM", "ESTIMATE", "COVARIANCE", "COVR", "TABLE", "SIMULATION", "SIMULATE", "SCATTERPLOT",
	"MSFI", "PRIOR",
	"MIX", "AES", "AESINITIAL", "ABBREVIATED", "SIZES", "WARNINGS", "CONTR", "BIND", "INDEX", "INDXS", "INFN",
	"NONPARAMETRIC",
	"SUPER", "TOL", "LEVEL", "INCLUDE", "DEFAULT", "ANNEAL", "CHAIN", "DESIGN", "ETAS", "PHIS", "FORMAT", "OMIT",
	"OMEGAP",
	"OMEGAPD", "SIGMAP", "SIGMAPD", "THETAP", "THETAPV", "THETAI", "THETAR", "OLKJDF", "OVARF", "SLKJDF", "SVARF",
	"TTDF", "RCOV",
	"RCOVI", "WARNING",
}

// same are records with several names.
var same = map[string]string{
	"INFILE": "DATA", "ESTM": "ESTIMATION", "ESTIMATE": "ESTIMATION", "SIMULATE": "SIMULATION", "COVR": "COVARIANCE",
}

const noPriors = "priors of NONMEM ($PRIOR) are not read: take the record out, and write " +
	"`param k = 1 ~ lognormal(0, 1)` in the translation"

// refused are records without a translation, and what to do.
var refused = map[string]string{
	"PRIOR": noPriors,
	"MIX":   "mixtures of populations ($MIX) have no translation",
	"AES":   "algebraic equations ($AES) are not read: write `alg z` and `0 = …` in the language of odes",
	"LEVEL": "random levels above the subject ($LEVEL) have no translation",
	"INFN":  "$INFN is not read: what it computes from the data belongs into the table",
	"BIND":  "$BIND is not read",
	"INDEX": "$INDEX is not read", "INDXS": "$INDXS is not read",
	"INCLUDE": "$INCLUDE is not read: put the text of the file in its place",
	"MSFI":    "$MSFI reads estimates from a file: write them into $THETA, $OMEGA and $SIGMA",
	"CONTR":   "$CONTR is not read: it computes the objective by a subroutine of its own",
	"OMIT":    "$OMIT is not read: the conditional weighted residuals have no such choice",
	"THETAI":  "$THETAI is not read: write THETA on their own scale", "THETAR": "",
	"RCOVI": "", "CHAIN": "$CHAIN reads values from a file: write them into $THETA, $OMEGA and $SIGMA",
	"ETAS": "", "PHIS": "",
	"SUPER":  "$SUPER is not read: write one control stream for each problem",
	"DESIGN": "$DESIGN evaluates plans of studies, which has no translation: take the record out",
	"OMEGAP": noPriors, "OMEGAPD": noPriors, "SIGMAP": noPriors, "SIGMAPD": noPriors, "THETAP": noPriors,
	"THETAPV": noPriors, "OLKJDF": noPriors, "OVARF": noPriors, "SLKJDF": noPriors, "SVARF": noPriors, "TTDF": noPriors,
}

// split cuts a control stream into its records.
func split(text string) (list []record, err error) {
	for pos := 0; pos < len(text); {
		end := strings.IndexByte(text[pos:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += pos + 1
		}
		line := text[pos:end]
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		at := pos + indent
		switch {
		case strings.HasPrefix(line[indent:], "$"):
			n := 1
			for at+n < end && isLetter(text[at+n]) {
				n++
			}
			if len(list) > 0 {
				list[len(list)-1].end = at
			}
			name := fullName(strings.ToUpper(text[at+1 : at+n]))
			if name == "" {
				return nil, faultf(place{at, at + n}, "%s is no record of a control stream", text[at:at+n])
			}
			list = append(list, record{name: name, at: place{at, at + n}, start: at + n, end: len(text)})
		case len(list) == 0 && strings.Trim(line, " \t\r\n") != "" && line[indent] != ';':
			return nil, faultf(place{at, end}, "this stands before the first record")
		}
		pos = end
	}
	return list, nil
}

// fullName is the name of a record that may be cut; "" for none.
func fullName(word string) string {
	const least = 3
	if word == "PK" {
		return word
	}
	if len(word) < least {
		return ""
	}
	for _, name := range names {
		if name == word || strings.HasPrefix(name, word) {
			if s := same[name]; s != "" {
				return s
			}
			return name
		}
	}
	return ""
}

// item is a word of a record of options, with its value: IGNORE=@, or "" where it has none.
type item struct {
	key, value string
	bracket    bool // the value stands in brackets, which are taken off
	at         place
}

// options reads the words of a record. Keys are in capital letters.
func options(text string, start, end int) (list []item, err error) {
	p := &words{text: text, pos: start, end: end}
	for {
		p.space(true)
		if p.pos >= p.end {
			return list, nil
		}
		from := p.pos
		it := item{}
		if p.text[p.pos] == '(' {
			if it.value, err = p.bracket(); err != nil {
				return nil, err
			}
			it.bracket, it.at = true, place{from, p.pos}
			list = append(list, it)
			continue
		}
		it.key = p.plain("=(, \t\r\n;")
		mark := p.pos
		p.space(false)
		switch {
		case p.pos < p.end && p.text[p.pos] == '=':
			p.pos++
			p.space(false)
			if p.pos < p.end && p.text[p.pos] == '(' {
				it.bracket = true
				it.value, err = p.bracket()
			} else {
				it.value = p.plain(" ,\t\r\n;")
			}
		case it.key != "" && p.pos == mark && p.pos < p.end && p.text[p.pos] == '(':
			it.bracket = true
			it.value, err = p.bracket()
		case it.key == "": // a sign that begins no word
			p.pos++
		}
		if err != nil {
			return nil, err
		}
		it.at = place{from, p.pos}
		list = append(list, it)
	}
}

// words reads words of a text.
type words struct {
	text     string
	pos, end int
}

// space passes over blanks and comments, and with commas over those.
func (p *words) space(commas bool) {
	for p.pos < p.end {
		switch c := p.text[p.pos]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' || commas && c == ',' || c == '&':
			p.pos++
		case c == ';':
			for p.pos < p.end && p.text[p.pos] != '\n' {
				p.pos++
			}
		default:
			return
		}
	}
}

// plain reads up to one of some letters, or what stands in quotes.
func (p *words) plain(until string) string {
	from := p.pos
	if p.pos < p.end && (p.text[p.pos] == '\'' || p.text[p.pos] == '"') {
		if n := strings.IndexByte(p.text[p.pos+1:p.end], p.text[p.pos]); n >= 0 {
			p.pos += n + 2
			return p.text[from+1 : p.pos-1]
		}
	}
	for p.pos < p.end && strings.IndexByte(until, p.text[p.pos]) < 0 {
		p.pos++
	}
	return p.text[from:p.pos]
}

// bracket reads what stands in brackets.
func (p *words) bracket() (string, error) {
	from, deep := p.pos, 0
	for p.pos < p.end {
		switch p.text[p.pos] {
		case '(':
			deep++
		case ')':
			if deep--; deep == 0 {
				p.pos++
				return p.text[from+1 : p.pos-1], nil
			}
		}
		p.pos++
	}
	return "", faultf(place{from, from + 1}, "this bracket is not closed")
}
