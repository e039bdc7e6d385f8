package comp

import (
	"odes.dev/odes/internal/exchange/sbml"
)

// each visits the elements of the package of a kind in all instances that are left, each before those that it contains.
func (f *flat) each(kind string, visit func(in *instance, e *sbml.Element) error) error {
	for _, in := range f.all {
		for _, e := range in.all {
			if e.Name() != kind || e.Package() != "comp" || in.gone || f.undone(e) {
				continue
			}
			if err := visit(in, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// undone reports whether an element of the package is deleted. That does not ask for what contains it: what an element
// stands for does not come back when that is deleted.
func (f *flat) undone(e *sbml.Element) bool {
	list := f.facts[e].parent
	return f.facts[e].gone || list != nil && list.Package() == "comp" && f.facts[list].gone
}

// removed reports whether an element is deleted, itself or with what contains it.
func (f *flat) removed(e *sbml.Element) bool {
	if f.facts[e].in.gone {
		return true
	}
	for ; e != nil; e = f.facts[e].parent {
		if f.facts[e].gone {
			return true
		}
	}
	return false
}

// submodel finds the submodel that an element refers to.
func (f *flat) submodel(in *instance, e *sbml.Element) (*instance, error) {
	id := attr(e, "submodelRef")
	if sub := in.subs[id]; sub != nil {
		return sub, nil
	}
	return nil, sbml.Errorf(e.Place(), "there is no submodel %q%s", id, in.within())
}

// referred finds the element that a reference is to, in an instance. Moved is true if it lies in a submodel that
// stands for another, which may have been replaced already.
func (f *flat) referred(ref *sbml.Element, in *instance) (e *sbml.Element, moved bool, err error) {
	found := 0
	for _, kind := range []struct {
		attribute, what string
		names           map[string]*sbml.Element
	}{
		{"idRef", "nothing with the id", in.ids},
		{"portRef", "no port", in.ports},
		{"unitRef", "no unit", in.units},
		{"metaIdRef", "nothing with the metaid", in.metaids},
	} {
		id := ref.Of("comp", kind.attribute)
		if id == "" {
			continue
		}
		found++
		if e = kind.names[id]; e == nil {
			return nil, false, sbml.Errorf(ref.Place(), "there is %s %q%s", kind.what, id, in.within())
		}
	}
	if found != 1 {
		return nil, false, sbml.Errorf(ref.Place(), "this <%s> has %d of idRef, portRef, unitRef and metaIdRef, not "+
			"one", ref.Name(), found)
	}
	if e.Name() == "port" && e.Package() == "comp" && ref.Of("comp", "portRef") != "" {
		if e, moved, err = f.referred(e, in); err != nil {
			return nil, false, err
		}
	}
	for _, deeper := range ref.Children() {
		if deeper.Name() != "sBaseRef" || deeper.Package() != "comp" {
			continue
		}
		if !isSubmodel(e) {
			return nil, false, sbml.Errorf(deeper.Place(), "<%s> is no submodel, and this asks for what it contains",
				e.Name())
		}
		owner := f.facts[e].in
		sub := owner.subs[attr(e, "id")]
		inner, further, err := f.referred(deeper, sub)
		return inner, moved || further || owner.given[attr(e, "id")], err
	}
	return e, moved, nil
}

func isSubmodel(e *sbml.Element) bool { return e.Name() == "submodel" && e.Package() == "comp" }

// replacing visits all replacements: the element of the model that contains the submodel, the one in the submodel, and
// which stands for the other.
func (f *flat) replacing(visit func(in *instance, by, e, inner *sbml.Element, moved bool) error) error {
	for _, kind := range []string{"replacedElement", "replacedBy"} {
		err := f.each(kind, func(in *instance, by *sbml.Element) error {
			e := f.facts[by].parent
			if kind == "replacedElement" {
				e = f.facts[e].parent
			}
			if by.Of("comp", "deletion") != "" { // what it stands for is deleted anyway
				return nil
			}
			sub, err := f.submodel(in, by)
			if err != nil {
				return err
			}
			inner, moved, err := f.referred(by, sub)
			if err != nil {
				return err
			}
			return visit(in, by, e, inner, moved || in.given[by.Of("comp", "submodelRef")])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// exchange lets submodels stand for others.
func (f *flat) exchange() error {
	f.name(f.root)
	return f.replacing(func(in *instance, by, e, inner *sbml.Element, _ bool) error {
		if !isSubmodel(e) && !isSubmodel(inner) {
			return nil
		}
		if !isSubmodel(e) || !isSubmodel(inner) {
			return sbml.Errorf(by.Place(), "a submodel can only stand for a submodel")
		}
		owner := f.facts[inner].in
		outer, within := in.subs[attr(e, "id")], owner.subs[attr(inner, "id")]
		for above := owner; above != nil; above = above.up {
			if above == outer {
				return sbml.Errorf(by.Place(), "the submodel %s cannot be exchanged for what it contains", outer.path)
			}
		}
		if outer.gone || within.gone || outer == within {
			return nil
		}
		if by.Name() == "replacedBy" {
			within.prefix = outer.prefix
			f.name(within)
			outer.drop()
			in.subs[attr(e, "id")], in.given[attr(e, "id")] = within, true
			return nil
		}
		within.drop()
		owner.subs[attr(inner, "id")], owner.given[attr(inner, "id")] = outer, true
		return nil
	})
}

// drop takes a submodel away, with all that it contains.
func (in *instance) drop() {
	in.gone = true
	for _, sub := range in.subs {
		if sub.up == in {
			sub.drop()
		}
	}
}

// delete takes away what submodels are to be without.
func (f *flat) delete() error {
	return f.each("deletion", func(in *instance, d *sbml.Element) error {
		s := f.facts[f.facts[d].parent].parent
		if !isSubmodel(s) {
			return nil
		}
		e, _, err := f.referred(d, in.subs[attr(s, "id")])
		if err != nil {
			return err
		}
		if isSubmodel(e) {
			f.facts[e].in.subs[attr(e, "id")].drop()
		}
		f.facts[e].gone = true
		return nil
	})
}

// replace finds out what stands for what.
func (f *flat) replace() error {
	return f.replacing(func(in *instance, by, e, inner *sbml.Element, moved bool) error {
		if isSubmodel(e) || isSubmodel(inner) {
			return nil
		}
		outer, within := f.facts[e], f.facts[inner]
		if by.Name() == "replacedBy" {
			if outer.heir != nil {
				return sbml.Errorf(by.Place(), "this <%s> is replaced twice", e.Name())
			}
			outer.heir = inner
			if within.title == nil && e.Attr("id") != "" {
				within.title = e
			}
			return nil
		}
		switch {
		case within.by == e || within.by != nil && moved:
			return nil
		case within.by != nil:
			return sbml.Errorf(by.Place(), "%s is replaced twice", describe(inner, within.in))
		}
		within.by, within.factor, within.from = e, by.Of("comp", "conversionFactor"), in
		return nil
	})
}

// inherit lets what replaces an element replace its heir, too.
func (f *flat) inherit() error {
	for _, in := range f.all {
		for _, e := range in.all {
			known := f.facts[e]
			if known.by == nil || known.heir == nil {
				continue
			}
			heir := f.facts[known.heir]
			if heir.by != nil {
				return sbml.Errorf(e.Place(), "%s is replaced twice", describe(known.heir, heir.in))
			}
			heir.by, heir.from, known.heir = e, known.in, nil
		}
	}
	return nil
}

// describe names an element.
func describe(e *sbml.Element, in *instance) string {
	if id := attr(e, "id"); id != "" {
		return id + in.within()
	}
	return "a <" + e.Name() + ">" + in.within()
}
