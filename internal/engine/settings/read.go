package settings

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/target"
	"odes.dev/odes/parser"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

// fields are the places of the fields of Settings that keys set, by the keys.
var fields = placesIn(reflect.TypeFor[Settings]())

// placesIn returns the places of the fields of a struct, and of structs within it, that have keys as their tags.
func placesIn(t reflect.Type) map[string][]int {
	all := map[string][]int{}
	var add func(t reflect.Type, at []int)
	add = func(t reflect.Type, at []int) {
		for i := range t.NumField() {
			f, place := t.Field(i), append(slices.Clip(at), i)
			if key := f.Tag.Get("key"); key != "" {
				all[key] = place
			} else if f.Type.Kind() == reflect.Struct && f.IsExported() {
				add(f.Type, place)
			}
		}
	}
	add(t, nil)
	return all
}

// known are the blocks that Settings has fields for. Others are read by Into.
var known = []string{"solver", "sens", "fit", "ensemble"}

// setters read the values of keys: as owns says, as settings of a method, or by the kind of their row.
var setters = func() map[string]setter {
	all := map[string]setter{}
	for _, block := range parser.Blocks() {
		for i := range keys.Of(block) {
			row := &keys.Of(block)[i]
			name := block + "." + row.Key
			switch {
			case owns[name].set != nil:
				all[name] = owns[name].set
			case fields[name] != nil:
				all[name] = setField(row, fields[name])
			case block == "solver" && ofMethod(row.Key):
				all[name] = setOfMethod(row)
			case !slices.Contains(known, block):
				all[name] = setOther(row)
			}
		}
	}
	return all
}()

// ofMethod reports whether only some methods take a setting.
func ofMethod(key string) bool {
	return slices.ContainsFunc(methods.Families(), func(f *solvers.Family) bool {
		return slices.ContainsFunc(f.Settings, func(s solvers.MethodSetting) bool { return s.Name == key })
	})
}

// setOfMethod reads what only some methods take.
func setOfMethod(row *keys.Row) setter {
	return number(func(s *Settings, x float64) string {
		if wrong := misfit(row, x); wrong != "" {
			return wrong
		}
		values := maps.Clone(s.OfMethod) // settings are copied
		if values == nil {
			values = map[string]float64{}
		}
		values[row.Key] = x
		s.OfMethod = values
		return ""
	})
}

// misfit returns what is wrong with a number for a key, or "".
func misfit(row *keys.Row, x float64) string {
	switch {
	case row.Kind == keys.Count && (!(x >= 1) || x != math.Floor(x) || x > 1<<53):
		return "takes a whole number from 1"
	case !row.Range.Has(x):
		return "must be " + row.Range.String()
	}
	return ""
}

// setField makes the setter of a field of Settings.
func setField(row *keys.Row, place []int) setter {
	return func(s *Settings, v model.SettingValue) string {
		return read(row, v, reflect.ValueOf(s).Elem().FieldByIndex(place))
	}
}

// setOther makes the setter of a key of a block that Settings has no field for: the value waits for Into.
func setOther(row *keys.Row) setter {
	return func(s *Settings, v model.SettingValue) string {
		wrong := read(row, v, reflect.New(natural(row.Kind)).Elem())
		if wrong == "" {
			s.others = append(slices.Clip(s.others), other{row, v})
		}
		return wrong
	}
}

// other is a setting that Settings has no field for.
type other struct {
	row   *keys.Row
	value model.SettingValue
}

// natural is a type that holds values of a kind.
func natural(kind keys.Kind) reflect.Type {
	switch kind {
	case keys.Number:
		return reflect.TypeFor[float64]()
	case keys.Count, keys.Size:
		return reflect.TypeFor[int64]()
	case keys.Switch:
		return reflect.TypeFor[bool]()
	case keys.Objectives:
		return reflect.TypeFor[[]string]()
	case keys.Variables:
		return reflect.TypeFor[[]target.Target]()
	case keys.Numbers:
		return reflect.TypeFor[[]float64]()
	}
	return reflect.TypeFor[string]()
}

// Into writes a block that Settings has no field for into the struct to, whose fields have keys as their tags.
func (s Settings) Into(block string, to any) {
	at := reflect.ValueOf(to).Elem()
	places := placesIn(at.Type())
	write := func(row *keys.Row, v model.SettingValue) {
		if place := places[row.Block+"."+row.Key]; place != nil {
			read(row, v, at.FieldByIndex(place))
		}
	}
	for i := range keys.Of(block) {
		if row := &keys.Of(block)[i]; row.Default != "" {
			write(row, written(row.Default))
		}
	}
	for _, o := range s.others {
		if o.row.Block == block {
			write(o.row, o.value)
		}
	}
}

// read reads the value of a key into a field, by the kind of its row. It returns what is wrong with the value, or "".
// Of two words, a field that is true or false holds whether the second was said; one that is a number holds the place
// of the word in the row.
func read(row *keys.Row, v model.SettingValue, f reflect.Value) string {
	switch row.Kind {
	case keys.Number, keys.Count:
		if v.Number == nil {
			return "takes a number"
		}
		x := *v.Number
		switch wrong := misfit(row, x); {
		case wrong != "":
			return wrong
		case f.CanFloat():
			f.SetFloat(x)
		case f.CanInt():
			f.SetInt(int64(x))
		default:
			f.SetUint(uint64(x))
		}
	case keys.Switch:
		w, wrong := readWord(v)
		if wrong != "" {
			return wrong
		}
		on, wrong := readSwitch(w)
		if wrong != "" {
			return wrong
		}
		f.SetBool(on)
	case keys.Word:
		return readOne(row, v, f)
	case keys.Objective, keys.Name:
		w, wrong := readWord(v)
		if wrong != "" {
			return wrong
		}
		f.SetString(w)
	case keys.Size:
		n, ok := readSize(v)
		if !ok {
			return `takes a size such as "2 GB"`
		}
		f.SetInt(n)
	case keys.Numbers:
		list, wrong := readNumbers(v)
		if wrong != "" {
			return wrong
		}
		f.Set(reflect.ValueOf(list))
	case keys.File:
		if v.Text == "" {
			return "names a file, in quotes"
		}
		f.SetString(v.Text)
	case keys.Objectives, keys.Variables:
		named, ok := targets(v)
		switch {
		case !ok && row.Kind == keys.Objectives:
			return "takes objectives: " + row.Key + " = [J, K]"
		case !ok:
			return "takes params and initial values: " + row.Key + " = [k, initial(x)]"
		case row.Kind == keys.Objectives:
			var names []string
			for _, t := range named {
				names = append(names, t.Text)
			}
			f.Set(reflect.ValueOf(names))
		default:
			f.Set(reflect.ValueOf(named))
		}
	}
	return ""
}

// readNumbers reads a list of numbers, or "from:step:to" with both ends.
func readNumbers(v model.SettingValue) (list []float64, wrong string) {
	const takes, most = `takes numbers, [1, 2, 5], or "from:step:to"`, 1_000_000
	if v.Number != nil {
		return []float64{*v.Number}, ""
	}
	for _, item := range v.List {
		if item.Number == nil {
			return nil, takes
		}
		list = append(list, *item.Number)
	}
	if parts := strings.Split(v.Text, ":"); v.Text != "" {
		var x [3]float64
		if len(parts) != 3 {
			return nil, takes
		}
		for i := range x {
			var err error
			if x[i], err = strconv.ParseFloat(strings.TrimSpace(parts[i]), 64); err != nil || x[i]-x[i] != 0 {
				return nil, takes
			}
		}
		n := (x[2] - x[0]) / x[1]
		if !(x[1] > 0) || !(n >= 0) || n > most {
			return nil, "takes a step that is positive, and at most a million of them"
		}
		for k := 0.0; k <= n+1e-9; k++ {
			list = append(list, x[0]+float64(k*x[1]))
		}
	}
	if len(list) == 0 {
		return nil, takes
	}
	return list, ""
}

// readOne reads one of several words.
func readOne(row *keys.Row, v model.SettingValue, f reflect.Value) string {
	w, wrong := readWord(v)
	if wrong != "" {
		return wrong
	}
	all := Words(row.Block, row.Key)
	at := slices.Index(all, w)
	if at < 0 {
		if wrong := owns[row.Block+"."+row.Key].wrong; wrong != nil {
			return wrong(w, all)
		}
		return "is " + diag.Either(all)
	}
	switch f.Kind() {
	case reflect.String:
		f.SetString(w)
	case reflect.Bool:
		f.SetBool(at == 1)
	default: // numbers from 0
		f.Set(reflect.ValueOf(at).Convert(f.Type()))
	}
	return ""
}

// readWord reads a name. It returns what is wrong with another value, or "".
func readWord(v model.SettingValue) (w, wrong string) {
	switch {
	case v.Word != "":
		return v.Word, ""
	case v.Text != "":
		return "", "takes a name, without quotes: " + v.Text
	}
	return "", "takes a name"
}

// readSwitch reads on or off. It returns what is wrong with another word, or "".
func readSwitch(w string) (on bool, wrong string) {
	switch w {
	case "on", "true":
		return true, ""
	case "off", "false":
		return false, ""
	}
	return false, "is on or off"
}

// initial are the settings of a model without blocks, but for what the machine decides.
var initial = func() Settings {
	var s Settings
	for _, block := range parser.Blocks() {
		for _, row := range keys.Of(block) {
			if set := setters[block+"."+row.Key]; set != nil && row.Default != "" {
				set(&s, written(row.Default))
			}
		}
	}
	return s
}()

// written reads a default: a number or a word.
func written(text string) model.SettingValue {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return model.SettingValue{Number: &x}
	}
	return model.SettingValue{Word: text}
}
