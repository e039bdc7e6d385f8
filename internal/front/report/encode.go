package report

import (
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// A kind of result is told to programs as a struct, whose fields are the members of a JSON object, in their order. Tags
// say what they are called and how the text is laid out:
//
//	json:"name,omitempty"  as in encoding/json, but that lists are left out where they are nil
//	empty:"null"  a list without elements is null
//	at:"2"      the member begins a line with so many blanks
//	each:"4"    so does every element of the list; each:"4 " has a blank behind the comma as well
//	end:"2"     the bracket behind the elements begins a line, too; end:"2?" where there are elements
//
// Numbers that JSON lacks are texts: "nan", "inf". An embedded struct has its fields in place of itself.

// modelForm is what the objects of most results begin with.
type modelForm struct {
	Schema int    `json:"schema" at:"2"`
	Status string `json:"status"`
	Model  string `json:"model"`
	File   string `json:"file"`
}

// warningsForm is what a run warned of and noted, in the form that diagnostics have everywhere.
type warningsForm struct {
	Warnings []diag.Diagnostic `json:"warnings" at:"2" each:"4" end:"2?"`
}

func warningsOf(lists ...[]diag.Diagnostic) warningsForm {
	return warningsForm{slices.Concat(lists...)}
}

// settingsForm are the settings of a run.
type settingsForm struct {
	Method     string  `json:"method"`
	RTol       float64 `json:"rtol"`
	ATol       float64 `json:"atol"`
	Sized      bool    `json:"atol_by_size,omitempty"`
	Mode       string  `json:"mode"`
	Checkpoint string  `json:"checkpoint"`
	Backend    string  `json:"backend"`
	Lanes      int     `json:"lanes"`
	Threads    int     `json:"threads"`
	CheckedBy  string  `json:"checked_by,omitempty"`
}

func settingsOf(s odes.RunSettings) settingsForm {
	return settingsForm{
		s.Method, s.RTol, s.ATol, s.Sized, s.Mode, s.Checkpoint, s.Backend, s.Lanes, s.Threads, s.CheckedBy,
	}
}

// pairs is an object whose members are known when it is written.
type pairs []pair

type pair struct {
	name  string
	value any
}

// writeJSON writes the object that x has the fields of.
func writeJSON(w io.Writer, x any) error {
	j := newJSON(w)
	v := reflect.ValueOf(x)
	j.encode(v, "")
	j.raw("\n")
	if err := j.w.Flush(); err != nil {
		return err
	}
	return j.err
}

// encode writes a value as its tag says.
func (j *jsonWriter) encode(v reflect.Value, tag reflect.StructTag) {
	switch x := v.Interface().(type) {
	case diag.Diagnostic:
		j.raw(x.JSON())
		return
	case pairs:
		j.raw("{")
		for i, p := range x {
			j.element(i, tag)
			j.text(p.name)
			j.raw(": ")
			j.encode(reflect.ValueOf(p.value), "")
		}
		j.end(len(x), tag)
		j.raw("}")
		return
	case nested:
		j.array(x.shape, x.values)
		return
	case stream:
		n := 0
		j.raw("[")
		err := x(func(of any) {
			j.element(n, tag)
			j.encode(reflect.ValueOf(of), "")
			n++
		})
		if err != nil && j.err == nil {
			j.err = err
		}
		j.end(n, tag)
		j.raw("]")
		return
	}
	switch v.Kind() {
	case reflect.String:
		j.text(v.String())
	case reflect.Bool:
		j.raw(strconv.FormatBool(v.Bool()))
	case reflect.Float64:
		j.number(v.Float())
	case reflect.Int, reflect.Int64:
		j.int(v.Int())
	case reflect.Uint64:
		j.raw(strconv.FormatUint(v.Uint(), 10))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			j.raw("null")
			return
		}
		j.encode(v.Elem(), tag)
	case reflect.Slice, reflect.Array:
		j.list(v, tag)
	case reflect.Struct:
		j.raw("{")
		if n := j.fields(v, 0); n > 0 && opens(v.Type()) {
			j.raw("\n")
		}
		j.raw("}")
	default:
		panic("report: there is no JSON for " + v.Type().String())
	}
}

// opens reports whether the first member of an object begins a line. The end of the object does then, too.
func opens(t reflect.Type) bool {
	f := t.Field(0)
	if f.Anonymous {
		return opens(f.Type)
	}
	return f.Tag.Get("at") != ""
}

// fields writes members, of which some stand before already, and returns how many there are then.
func (j *jsonWriter) fields(v reflect.Value, before int) int {
	for field, x := range v.Fields() {
		if field.Anonymous {
			before = j.fields(x, before)
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if options == "omitempty" && x.IsZero() {
			continue
		}
		if at := field.Tag.Get("at"); at != "" {
			j.separate(before, "\n"+blanks(at))
		} else {
			j.separate(before, [2]string{"", " "}[min(before, 1)])
		}
		before++
		j.text(name)
		j.raw(": ")
		if field.Tag.Get("empty") == "null" && x.Len() == 0 {
			j.raw("null")
			continue
		}
		j.encode(x, field.Tag)
	}
	return before
}

// list writes a list.
func (j *jsonWriter) list(v reflect.Value, tag reflect.StructTag) {
	j.raw("[")
	for i := range v.Len() {
		j.element(i, tag)
		j.encode(v.Index(i), "")
	}
	j.end(v.Len(), tag)
	j.raw("]")
}

// element writes what stands before element i of a list.
func (j *jsonWriter) element(i int, tag reflect.StructTag) {
	switch each := tag.Get("each"); {
	case each == "" && i > 0:
		j.raw(", ")
	case strings.HasSuffix(each, " ") && i > 0:
		j.raw(", \n", blanks(each))
	case each != "":
		j.separate(i, "\n"+blanks(each))
	}
}

// end writes what stands before the bracket behind n elements.
func (j *jsonWriter) end(n int, tag reflect.StructTag) {
	if end := tag.Get("end"); end != "" && (n > 0 || !strings.HasSuffix(end, "?")) {
		j.raw("\n", blanks(end))
	}
}

// blanks returns as many blanks as a tag says.
func blanks(tag string) string {
	n, err := strconv.Atoi(strings.TrimRight(tag, " ?"))
	if err != nil {
		panic("report: the tag " + tag)
	}
	return strings.Repeat(" ", n)
}

// separate writes what stands before element k of a list.
func (j *jsonWriter) separate(k int, before string) {
	if k > 0 {
		j.raw(",")
	}
	j.raw(before)
}
