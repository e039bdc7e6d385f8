package nonmem

import (
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/input"
)

// data is the table of $DATA, with the columns of $INPUT, after IGNORE and ACCEPT.
type data struct {
	at      place    // of the name of the file
	path    string   // as odes reads it
	columns []string // that are not dropped, by the names that code uses
	rows    [][]cell
	as      map[string]string // synonyms: CONC is DV
	header  []string          // the first line, where it was left out
	heads   []int             // which column of the file each is
	skipped bool              // rows beside the first line were left out
	commas  bool              // all separators are commas
	ragged  bool              // lines have other numbers of cells than the first
	clock   bool              // times are hours and minutes
	known   map[string][]float64
}

// cell is a number of the table; what is missing is 0 for NONMEM.
type cell struct {
	value   float64
	missing bool
}

// maxCells is how many numbers a table may have.
const maxCells = 4_000_000

// reserved are the data items that mean the same in all control streams.
var reservedItems = []string{
	"ID", "L1", "L2", "DV", "MDV", "TIME", "DATE", "DAT1", "DAT2", "DAT3", "EVID", "AMT", "RATE", "SS", "II",
	"ADDL", "CMT",
	"PCMT", "CALL", "CONT", "XVID", "DROP", "SKIP",
}

// refusedItems are those without a translation.
var refusedItems = map[string]string{
	"L2":   "L2 makes residual errors of several rows correlate, which odes has not",
	"PCMT": "PCMT chooses what is predicted, which odes has not: split the rows by a column of your own in $ERROR",
	"CALL": "CALL is not read: drop the column",
	"CONT": "CONT is not read: drop the column",
	"DATE": "dates are not read: compute TIME in hours since the first record, and drop the column of dates",
	"DAT1": "dates are not read: compute TIME in hours since the first record, and drop the column of dates",
	"DAT2": "dates are not read: compute TIME in hours since the first record, and drop the column of dates",
	"DAT3": "dates are not read: compute TIME in hours since the first record, and drop the column of dates",
}

// filter is a condition of IGNORE or ACCEPT.
type filter struct {
	column int
	sign   string
	text   string
}

// dataRecord is what $DATA says.
type dataRecord struct {
	file           string
	at             place
	ignore         byte
	ignores        []string
	accepts        []string
	records        int // 0 for all
	null           float64
	ignoreAt, acAt place
}

// behind returns the letter that stands behind IGNORE without =; "" for none.
func behind(list []item, i int) string {
	if i+1 < len(list) && strings.EqualFold(list[i].key, "IGNORE") && list[i].value == "" &&
		list[i+1].value == "" && len(list[i+1].key) == 1 {
		return list[i+1].key
	}
	return ""
}

func readData(text string, r record) (d dataRecord, err error) {
	d.ignore = '#'
	p := &words{text: text, pos: r.start, end: r.end}
	p.space(false)
	from := p.pos
	d.file = p.plain(" ,\t\r\n;")
	d.at = place{from, p.pos}
	if d.file == "" || d.file == "*" {
		return d, faultf(r.at, "$DATA names no file")
	}
	list, err := options(text, p.pos, r.end)
	if err != nil {
		return d, err
	}
	for i := 0; i < len(list); i++ {
		it := list[i]
		key := strings.ToUpper(it.key)
		if i+1 < len(list) && it.value == "" && !it.bracket && (key == "IGNORE" || key == "ACCEPT") &&
			list[i+1].key == "" && list[i+1].bracket { // IGNORE (ID.EQ.2)
			i++
			it.value, it.bracket = list[i].value, true
		}
		if letter := behind(list, i); letter != "" { // IGNORE #
			i++
			it.value = letter
		}
		is := func(full string, least int) bool { return len(key) >= least && strings.HasPrefix(full, key) }
		switch {
		case key == "" && it.bracket:
			return d, faultf(it.at, "a Fortran format of the data is not read: write the table with commas or blanks")
		case is("IGNORE", 3) && it.bracket:
			d.ignores, d.ignoreAt = append(d.ignores, it.value), it.at
		case is("IGNORE", 3):
			if len(it.value) != 1 {
				return d, faultf(it.at, "IGNORE has one letter, @, or conditions in brackets")
			}
			d.ignore = it.value[0]
		case is("ACCEPT", 3) && it.bracket:
			d.accepts, d.acAt = append(d.accepts, it.value), it.at
		case is("RECORDS", 3):
			if d.records, err = strconv.Atoi(it.value); err != nil || d.records < 1 {
				return d, faultf(it.at, "RECORDS is a number of rows here")
			}
		case is("NULL", 4):
			x, ok := readNumber(it.value)
			if !ok {
				return d, faultf(it.at, "NULL is a number here")
			}
			d.null = x
		case is("NOWIDE", 3), is("WIDE", 3), is("CHECKOUT", 3), is("REWIND", 3), is("NOREWIND", 3), is("NOOPEN", 3),
			strings.HasPrefix(key, "LAST"), is("BLANKOK", 3), is("MISDAT", 3) && it.value == "",
			is("PRED_IGNORE_DATA", 6):
		default:
			return d, faultf(it.at, "%s is not read in $DATA", it.key)
		}
	}
	return d, nil
}

// inputs reads $INPUT: names of columns, "" for dropped ones.
func inputs(text string, records []record) (list []string, as map[string]string, err error) {
	as = map[string]string{}
	for _, r := range records {
		all, err := options(text, r.start, r.end)
		if err != nil {
			return nil, nil, err
		}
		for _, it := range all {
			a, b := strings.ToUpper(it.key), strings.ToUpper(it.value)
			drop := func(s string) bool { return s == "DROP" || s == "SKIP" }
			switch {
			case it.bracket || a == "" && b == "":
				return nil, nil, faultf(it.at, "$INPUT lists names: DV, or CONC=DV, or WT=DROP")
			case drop(a), drop(b):
				list = append(list, "")
				continue
			case b != "" && slices.Contains(reservedItems, b) && !slices.Contains(reservedItems, a):
				a, b = b, a
			}
			if !plainName(a) || b != "" && !plainName(b) {
				return nil, nil, faultf(it.at, "%q is no name of a data item", it.key)
			}
			if b != "" {
				as[b] = a
			}
			if why := refusedItems[a]; why != "" {
				return nil, nil, faultf(it.at, "%s", why)
			}
			if slices.Contains(list, a) {
				return nil, nil, faultf(it.at, "%s stands twice in $INPUT", a)
			}
			list = append(list, a)
		}
	}
	return list, as, nil
}

func plainName(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && (i == 0 || !isDigit(s[i])) {
			return false
		}
	}
	return s != ""
}

// endings are those of files outside of the folder that are read.
var endings = []string{".csv", ".dat", ".txt", ".tab", ".prn", ".data", ".nmdat", ".CSV", ".DAT"}

// load reads the table.
func load(files fs.FS, d dataRecord, names []string, as map[string]string) (*data, error) {
	t := &data{at: d.at, path: d.file, as: as, commas: true, known: map[string][]float64{}}
	text, err := input.ReadAround(files, d.file, input.MaxText, endings...)
	if err != nil {
		return nil, faultf(d.at, "%v", err)
	}
	for k, name := range names {
		if name != "" {
			t.columns, t.heads = append(t.columns, name), append(t.heads, k)
		}
	}
	ignores, err := filters(d.ignores, names, as, d.ignoreAt)
	if err != nil {
		return nil, err
	}
	accepts, err := filters(d.accepts, names, as, d.acAt)
	if err != nil {
		return nil, err
	}
	count := 0
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if d.records > 0 && count == d.records {
			t.skipped = true
			break
		}
		line = strings.TrimRight(line, "\r\n")
		if number == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		cells, commas := splitLine(line)
		if strings.TrimSpace(line) == "" {
			continue
		}
		if ignored(line, d.ignore) {
			if number == 1 && !strings.HasPrefix(line, "#") { // for odes that is a comment, and heads nothing
				t.header = cells
			} else if !strings.HasPrefix(line, "#") {
				t.skipped = true
			}
			continue
		}
		t.commas = t.commas && commas
		t.ragged = t.ragged || len(cells) != len(t.header)
		count++
		if d.records == 0 && len(t.rows)*max(1, len(t.columns)) > maxCells {
			return nil, faultf(d.at, "the table has more than %d numbers", maxCells)
		}
		if out(cells, ignores) || len(accepts) > 0 && !out(cells, accepts) {
			t.skipped = true
			continue
		}
		row := make([]cell, len(t.columns))
		for i, k := range t.heads {
			if row[i], err = t.cell(cells, k, t.columns[i], d.null); err != nil {
				return nil, faultf(d.at, "%s:%d: %v", d.file, number, err)
			}
		}
		t.rows = append(t.rows, row)
	}
	if len(t.rows) == 0 {
		return nil, faultf(d.at, "%s has no rows that are not left out", d.file)
	}
	return t, nil
}

// ignored reports whether a line is left out by its first letter.
func ignored(line string, by byte) bool {
	if by != '@' {
		return line[0] == by
	}
	first := strings.TrimLeft(line, " \t")
	return first != "" && (first[0]|0x20 >= 'a' && first[0]|0x20 <= 'z' || first[0] == '@')
}

// splitLine cuts a line at commas, tabs or blanks.
func splitLine(line string) (cells []string, commas bool) {
	by := ","
	if !strings.Contains(line, by) {
		if by = "\t"; !strings.Contains(line, by) {
			return strings.Fields(line), false
		}
	}
	commas = by == ","
	for part := range strings.SplitSeq(line, by) {
		part = strings.TrimSpace(part)
		if words := strings.Fields(part); len(words) > 1 && !strings.ContainsAny(part, `"'`) {
			cells, commas = append(cells, words...), false
			continue
		}
		cells = append(cells, strings.Trim(part, `"'`))
	}
	return cells, commas
}

// cell reads a number.
func (t *data) cell(cells []string, k int, name string, null float64) (cell, error) {
	if k >= len(cells) || cells[k] == "" || cells[k] == "." {
		return cell{null, true}, nil
	}
	text := cells[k]
	if name == "TIME" && strings.ContainsRune(text, ':') {
		hours, minutes, _ := strings.Cut(text, ":")
		h, ok1 := readNumber(hours)
		m, ok2 := readNumber(minutes)
		if ok1 && ok2 {
			t.clock = true
			const perHour = 60
			return cell{h + m/perHour, false}, nil
		}
	}
	x, ok := readNumber(text)
	if !ok || math.IsInf(x, 0) {
		return cell{}, faultf(t.at, "%q in the column %s is no number; drop the column ($INPUT … %s=DROP), or "+
			"leave out "+
			"such rows by IGNORE", text, name, name)
	}
	return cell{x, false}, nil
}

// filters reads conditions of IGNORE and ACCEPT, which commas separate.
func filters(lists []string, names []string, as map[string]string, at place) (all []filter, err error) {
	for _, list := range lists {
		for one := range strings.SplitSeq(list, ",") {
			one = strings.TrimSpace(one)
			if one == "" {
				continue
			}
			f, name, ok := oneFilter(one)
			if !ok {
				return nil, faultf(at, "%q is no condition of IGNORE or ACCEPT, such as EVID.EQ.2", one)
			}
			if full := as[name]; full != "" {
				name = full
			}
			if f.column = slices.Index(names, name); f.column < 0 {
				return nil, faultf(at, "%s, by which rows are chosen, is no column of $INPUT that is kept", name)
			}
			all = append(all, f)
		}
	}
	return all, nil
}

func oneFilter(text string) (f filter, name string, ok bool) {
	n := 0
	for n < len(text) && (isLetter(text[n]) || isDigit(text[n])) {
		n++
	}
	name = strings.ToUpper(text[:n])
	rest := strings.TrimLeft(text[n:], " \t")
	if strings.HasPrefix(rest, ".") {
		word, value, found := strings.Cut(rest[1:], ".")
		if word = strings.ToUpper(word); !found || dotted[word] == "" || word == "AND" || word == "OR" ||
			word == "NOT" {
			return f, "", false
		}
		f.sign, f.text = word, value
	} else {
		for _, sign := range []string{"==", "/=", ">=", "<=", "=", ">", "<"} {
			if value, found := strings.CutPrefix(rest, sign); found {
				f.sign, f.text = map[string]string{
					"==": "EQ", "=": "EQ", "/=": "NE", ">=": "GE", "<=": "LE", ">": "GT", "<": "LT",
				}[sign], value
				break
			}
		}
	}
	f.text = strings.Trim(strings.TrimSpace(f.text), `"'`)
	return f, name, n > 0 && f.sign != "" && f.text != ""
}

// out reports whether one of the conditions holds of a row.
func out(cells []string, list []filter) bool {
	for _, f := range list {
		have := ""
		if f.column < len(cells) {
			have = cells[f.column]
		}
		a, ok1 := readNumber(have)
		b, ok2 := readNumber(f.text)
		if have == "" || have == "." {
			a, ok1 = 0, true
		}
		equal := have == f.text || ok1 && ok2 && a == b
		both := ok1 && ok2
		if map[string]bool{
			"EQ": equal, "EQN": equal, "NE": !equal, "NEN": !equal, "GT": both && a > b, "GE": both && a >= b,
			"LT": both && a < b, "LE": both && a <= b,
		}[f.sign] {
			return true
		}
	}
	return false
}

// column returns the numbers of a column; nil where there is none.
func (t *data) column(name string) []float64 {
	k := slices.Index(t.columns, name)
	if k < 0 {
		return nil
	}
	if t.known[name] == nil {
		list := make([]float64, len(t.rows))
		for i, row := range t.rows {
			list[i] = row[k].value
		}
		t.known[name] = list
	}
	return t.known[name]
}

// get is a number of a column, and 0 where there is no such column.
func (t *data) get(name string, row int) float64 {
	if c := t.column(name); c != nil {
		return c[row]
	}
	return 0
}

// observed lists the rows that are measurements.
func (t *data) observed(pred bool) (rows []int) {
	for i := range t.rows {
		dosed := !pred && (t.get("AMT", i) != 0 || t.get("RATE", i) != 0 || t.get("SS", i) != 0)
		switch {
		case t.column("MDV") != nil && t.get("MDV", i) != 0:
		case t.column("EVID") != nil && t.get("EVID", i) != 0:
		case t.column("EVID") == nil && t.column("MDV") == nil && dosed:
		case t.column("EVID") == nil && dosed:
		default:
			rows = append(rows, i)
		}
	}
	return rows
}

// fixed reports whether a column has one value in each subject.
func (t *data) fixed(name string) bool {
	first := map[float64]float64{}
	ids, c := t.column("ID"), t.column(name)
	for i, x := range c {
		if have, ok := first[ids[i]]; ok && have != x {
			return false
		} else if !ok {
			first[ids[i]] = x
		}
	}
	return true
}

// whole reports whether all numbers of a column are whole.
func (t *data) whole(name string) bool {
	return !slices.ContainsFunc(t.column(name), func(x float64) bool { return x != math.Trunc(x) })
}
