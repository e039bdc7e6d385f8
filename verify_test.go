package odes

import (
	"math"
	"path/filepath"
	"testing"
)

// TestVerify checks the gradients of the examples by the other methods.
func TestVerify(t *testing.T) {
	checked := 0
	for _, model := range []string{
		"bounce/bounce", "vdp/vdp", "swing/swing", "harvest/harvest", "switched/switched", "stairs/stairs",
		"projectile/projectile", "pk/pk", "glv/glv", "thermostat/thermostat", "izhikevich/izhikevich",
	} {
		m, err := ParseFile(filepath.Join("examples", filepath.FromSlash(model)+".ode"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := m.Verify(t.Context(), Options{}, VerifyOptions{Seed: 1})
		if err != nil {
			t.Errorf("%s: %v", model, err)
			continue
		}
		for _, o := range v.Objectives {
			checked++
			if o.Outcome != "ok" {
				t.Errorf("%s: %s is %s: off by %.2g from complex steps, by %.2g from %s", model, o.Name, o.Outcome, o.Complex, o.Second, v.Second)
			}
		}
	}
	if checked < 30 {
		t.Fatalf("only %d objectives were checked", checked)
	}
}

// TestVerifyCatches hands Verify's comparison wrong gradients: one derivative
// off by a millionth must not pass.
func TestVerifyCatches(t *testing.T) {
	m, err := ParseFile(filepath.Join("examples", "bounce", "bounce.ode"))
	if err != nil {
		t.Fatal(err)
	}
	for k := range 4 {
		s, err := m.Sensitivities(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Gradient[s.Columns+k] *= 1 + 1e-6 // of path
		out := &Verification{}
		for _, v := range s.Values {
			out.Objectives = append(out.Objectives, Verdict{Name: v.Name, Value: v.Value})
		}
		if err := m.verifyAlong(t.Context(), Options{}, VerifyOptions{Directions: 3, Seed: 7}, s, out); err != nil {
			t.Fatal(err)
		}
		for i := range out.Objectives {
			out.Objectives[i].judge(1e-8)
		}
		if out.Objectives[0].Outcome != "ok" || out.Objectives[1].Outcome != "wrong" || !out.Wrong() {
			t.Errorf("column %d: %+v", k, out.Objectives)
		}
		second := &Verification{Objectives: make([]Verdict, len(s.Values))}
		if err := m.verifySecond(t.Context(), Options{}, s, second); err != nil {
			t.Fatal(err)
		}
		if second.Objectives[0].Second > 1e-10 || second.Objectives[1].Second < 1e-10 {
			t.Errorf("column %d: %+v", k, second.Objectives)
		}
	}
	v := Verdict{Value: 1, Complex: math.NaN()}
	if v.judge(1); v.Outcome != "wrong" {
		t.Error("an error that is no number passes")
	}
}
