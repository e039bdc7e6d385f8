package result

import (
	"fmt"
	"reflect"
	"strings"
)

// Form is the common form of results: facts, and tables of numbers. Whatever writes results, or hands them to programs,
// takes it. A kind of result need not know it: see FormOf.
type Form struct {
	Facts  []Fact
	Tables []Table
}

// Fact is a number, or a text, about a result as a whole.
type Fact struct {
	Name, Unit string
	Value      float64
	Text       string // in place of the number; "" for none
}

// Table is rows of numbers.
type Table struct {
	Name    string
	Labels  []string // of the rows; nil for none
	Columns []TableColumn
}

// TableColumn is a column of a table.
type TableColumn struct {
	Name, Unit string
	Values     []float64
}

// Rows returns how many rows a table has.
func (t *Table) Rows() int {
	if len(t.Columns) == 0 {
		return 0
	}
	return len(t.Columns[0].Values)
}

// Label returns the name of a row; "" for none.
func (t *Table) Label(row int) string {
	if t.Labels == nil {
		return ""
	}
	return t.Labels[row]
}

// Array returns the numbers of a table as an array, rows × columns.
func (t *Table) Array() Array {
	rows, columns := t.Rows(), len(t.Columns)
	a := Array{t.Name, []int{rows, columns}, make([]float64, rows*columns)}
	for c, x := range t.Columns {
		for i, v := range x.Values {
			a.Values[i*columns+c] = v
		}
	}
	return a
}

// Array is numbers with a name and a shape, row by row.
type Array struct {
	Name   string
	Shape  []int
	Values []float64
}

// FormOf returns the common form of a result, a struct. Its exported fields are, in their order, facts where they are
// numbers, switches or texts, and tables where they are lists: of numbers, or of structs. Fields of these are columns,
// and a text among them labels the rows. Fields that are Facts or Tables stand for what is known only when it runs. The
// tag form:"name,unit" says what a field is called, and form:"-" that it is left out; without a tag, it has its name in
// small letters.
func FormOf(result any) *Form {
	form := &Form{}
	v := reflect.Indirect(reflect.ValueOf(result))
	for field, x := range v.Fields() {
		name, unit, ok := called(field)
		if !ok {
			continue
		}
		switch x := x.Interface().(type) {
		case Fact:
			form.Facts = append(form.Facts, x)
		case []Fact:
			form.Facts = append(form.Facts, x...)
		case Table:
			form.Tables = append(form.Tables, x)
		case []Table:
			form.Tables = append(form.Tables, x...)
		case string:
			form.Facts = append(form.Facts, Fact{Name: name, Text: x})
		case []float64:
			column := TableColumn{name, unit, x}
			form.Tables = append(form.Tables, Table{Name: name, Columns: []TableColumn{column}})
		default:
			form.add(name, unit, reflect.ValueOf(x))
		}
	}
	return form
}

// add adds a field that is a number, or a list of structs.
func (form *Form) add(name, unit string, v reflect.Value) {
	if v.Kind() != reflect.Slice {
		form.Facts = append(form.Facts, Fact{Name: name, Unit: unit, Value: number(v)})
		return
	}
	t := Table{Name: name}
	for f := range v.Type().Elem().Fields() {
		name, unit, ok := called(f)
		if !ok {
			continue
		}
		if f.Type.Kind() == reflect.String {
			t.Labels = make([]string, v.Len())
			for i := range t.Labels {
				t.Labels[i] = v.Index(i).FieldByIndex(f.Index).String()
			}
			continue
		}
		c := TableColumn{name, unit, make([]float64, v.Len())}
		for i := range c.Values {
			c.Values[i] = number(v.Index(i).FieldByIndex(f.Index))
		}
		t.Columns = append(t.Columns, c)
	}
	form.Tables = append(form.Tables, t)
}

// called returns what a field is called, and its unit; false where it is left out.
func called(f reflect.StructField) (name, unit string, ok bool) {
	name, unit, _ = strings.Cut(f.Tag.Get("form"), ",")
	if name == "" {
		name = strings.ToLower(f.Name)
	}
	return name, unit, f.IsExported() && name != "-"
}

// number returns a value as a number; 1 for true.
func number(v reflect.Value) float64 {
	switch {
	case v.CanFloat():
		return v.Float()
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	case v.Kind() == reflect.Bool:
		return 0
	}
	panic(fmt.Sprintf("result: the common form has no %s", v.Type()))
}
