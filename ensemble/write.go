package ensemble

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"io"
	"iter"
	"math"
	"strconv"

	"odes.dev/odes/data"
)

// Chunks are the chunks of a problem in the order of the members, which can be gone through more than once.
type Chunks iter.Seq2[*Chunk, error]

// Chunks returns the chunks of a journal; a problem of which all are done. They say what comparisons found.
func (j *Journal) Chunks(p *Problem, f *Findings) Chunks {
	return func(yield func(*Chunk, error) bool) {
		for i := range p.Chunks() {
			c, err := j.Read(i)
			if err == nil {
				f.Mark(c)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Format is a format of files with the rows of all members.
type Format struct {
	Name, Doc string
	Write     func(w io.Writer, p *Problem, chunks Chunks) error
}

// Formats lists the formats of files with rows.
func Formats() []Format {
	return []Format{
		{"csv", "for spreadsheets", writeCSV},
		{"npz", "for NumPy", writeNPZ},
		{"parquet", "for tables of any size", writeParquet},
	}
}

// FormatNamed returns the format of a name, and whether there is one.
func FormatNamed(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Names returns the names of the numbers of a row.
func (t *Table) Names() []string {
	var list []string
	for _, g := range t.Groups() {
		if g.Name != "series" {
			for _, c := range g.Columns {
				list = append(list, c.Name)
			}
			continue
		}
		for _, time := range t.Times {
			for _, c := range g.Columns {
				list = append(list, c.Name+" at "+strconv.FormatFloat(time, 'g', -1, 64))
			}
		}
	}
	return list
}

// writeCSV writes a line for each member: its number, from 1 on, how it ended, its steps, the numbers of its row, and
// why it failed or is not confirmed. What is missing is empty.
func writeCSV(w io.Writer, p *Problem, chunks Chunks) error {
	out := csv.NewWriter(w)
	names := p.Table.Names()
	line := append([]string{"member", "status", "steps"}, names...)
	if err := out.Write(append(line, "error")); err != nil {
		return err
	}
	width := p.Table.Width()
	for c, err := range chunks {
		if err != nil {
			return err
		}
		why := c.remarks()
		for i, status := range c.Status {
			line = append(line[:0], strconv.Itoa(c.First+i+1), status.String(), strconv.Itoa(int(c.Steps[i])))
			for _, x := range c.Rows[i*width : (i+1)*width] {
				text := ""
				if !math.IsNaN(x) {
					text = strconv.FormatFloat(x, 'g', -1, 64)
				}
				line = append(line, text)
			}
			text := ""
			if len(why) > 0 && why[0].Member == c.First+i {
				text, why = why[0].text(), why[1:]
			}
			if err := out.Write(append(line, text)); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// writeNPZ writes a NumPy archive with param[n, p], value[n, m], gradient[n, m, c] and series[n, t, s], as far as rows
// have them, and status[n] (0 ok, 1 partial, 2 failed), steps[n] and time[t]. Members that end in .txt name the
// columns, and failures.jsonl has a line for each member that failed or is not confirmed.
func writeNPZ(w io.Writer, p *Problem, chunks Chunks) error {
	z := data.NewArchive(w)
	t := &p.Table
	width := t.Width()
	array := func(name string, shape []int, part func(c *Chunk, i int) []float64) error {
		var failed error
		err := z.Array(name, append([]int{t.Members}, shape...), func(yield func([]float64) bool) {
			for c, err := range chunks {
				if err != nil {
					failed = err
					return
				}
				for i := range c.Status {
					if !yield(part(c, i)) {
						return
					}
				}
			}
		})
		if failed != nil {
			return failed
		}
		return err
	}
	for _, g := range t.Groups() {
		err := array(g.Name, g.Shape, func(c *Chunk, i int) []float64 {
			return c.Rows[i*width+g.At : i*width+g.At+g.Size]
		})
		if err == nil && g.Name != "gradient" {
			err = lines(z, g.Name+".txt", func(b *bufio.Writer) {
				for _, c := range g.Columns {
					b.WriteString(c.Name + "\n")
				}
			})
		}
		if err == nil && g.Name == "gradient" {
			err = lines(z, g.Name+".txt", func(b *bufio.Writer) {
				for _, x := range t.Variables {
					for e := range x.Size() {
						b.WriteString(x.Element(e) + "\n")
					}
				}
			})
		}
		if err != nil {
			return err
		}
	}
	var one [1]float64
	if err := array("status", nil, func(c *Chunk, i int) []float64 {
		one[0] = float64(c.Status[i])
		return one[:]
	}); err != nil {
		return err
	}
	if err := array("steps", nil, func(c *Chunk, i int) []float64 {
		one[0] = float64(c.Steps[i])
		return one[:]
	}); err != nil {
		return err
	}
	if len(t.Times) > 0 {
		if err := z.List("time", t.Times); err != nil {
			return err
		}
	}
	var failed error
	if err := lines(z, "failures.jsonl", func(b *bufio.Writer) {
		for c, err := range chunks {
			if err != nil {
				failed = err
				return
			}
			for _, f := range c.remarks() {
				f.Member++ // from 1 on, as in the other formats
				text, _ := json.Marshal(f)
				b.Write(append(text, '\n'))
			}
		}
	}); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	return z.Close()
}

// lines writes a text into an archive.
func lines(z *data.Archive, name string, write func(b *bufio.Writer)) error {
	f, err := z.Text(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	write(b)
	return b.Flush()
}
