package settings

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/target"
	"odes.dev/odes/parser"
	"odes.dev/odes/solvers"
)

// fields are the places of the fields of Settings that keys set, by the keys, which are their tags.
var fields = func() map[string][]int {
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
	add(reflect.TypeFor[Settings](), nil)
	return all
}()

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
			}
		}
	}
	return all
}()

// ofMethod reports whether only some methods take a setting.
func ofMethod(key string) bool {
	return slices.ContainsFunc(solvers.Families(), func(f *solvers.Family) bool {
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

// setField makes the setter of a field of Settings. Of two words, a field that is true or false holds whether the
// second was said; one that is a number holds the place of the word in the row.
func setField(row *keys.Row, place []int) setter {
	field := func(s *Settings) reflect.Value { return reflect.ValueOf(s).Elem().FieldByIndex(place) }
	switch row.Kind {
	case keys.Number:
		return number(func(s *Settings, x float64) string {
			wrong := misfit(row, x)
			if wrong == "" {
				field(s).SetFloat(x)
			}
			return wrong
		})
	case keys.Count:
		return number(func(s *Settings, x float64) string {
			wrong := misfit(row, x)
			if f := field(s); wrong != "" {
				return wrong
			} else if f.CanInt() {
				f.SetInt(int64(x))
			} else {
				f.SetUint(uint64(x))
			}
			return ""
		})
	case keys.Switch:
		return word(func(s *Settings, w string) string {
			on, wrong := readSwitch(w)
			if wrong == "" {
				field(s).SetBool(on)
			}
			return wrong
		})
	case keys.Word:
		return setWord(row, field)
	case keys.Size:
		return func(s *Settings, v model.SettingValue) string {
			n, ok := readSize(v)
			if !ok {
				return `takes a size such as "2 GB"`
			}
			field(s).SetInt(n)
			return ""
		}
	case keys.Objectives:
		return func(s *Settings, v model.SettingValue) string {
			named, ok := targets(v)
			if !ok {
				return "takes objectives: " + row.Key + " = [J, K]"
			}
			var names []string
			for _, t := range named {
				names = append(names, t.Text)
			}
			field(s).Set(reflect.ValueOf(names))
			return ""
		}
	case keys.Variables:
		return func(s *Settings, v model.SettingValue) string {
			named, ok := targets(v)
			if !ok {
				return "takes params and initial values: " + row.Key + " = [k, initial(x)]"
			}
			*field(s).Addr().Interface().(*[]target.Target) = named
			return ""
		}
	}
	return nil
}

// setWord makes the setter of one of several words.
func setWord(row *keys.Row, field func(s *Settings) reflect.Value) setter {
	wrong := owns[row.Block+"."+row.Key].wrong
	if wrong == nil {
		wrong = notOne
	}
	return word(func(s *Settings, w string) string {
		all := Words(row.Block, row.Key)
		at := slices.Index(all, w)
		if at < 0 {
			return wrong(w, all)
		}
		switch f := field(s); f.Kind() {
		case reflect.String:
			f.SetString(w)
		case reflect.Bool:
			f.SetBool(at == 1)
		default: // numbers from 0
			f.Set(reflect.ValueOf(at).Convert(f.Type()))
		}
		return ""
	})
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
