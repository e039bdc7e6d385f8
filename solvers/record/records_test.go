package record

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"odes.dev/odes/solvers"
)

// TestRecordsPacked holds that packed records say of each step what was written down, through steps that end at events,
// begin elsewhere, have no length, or were made by another method, and spans that begin anywhere.
func TestRecordsPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var loose, packed records
	var spans list[span]
	now, units := 0.0, int32(0)
	for i := range packFrom + 5000 {
		for i == 0 || r.IntN(20) == 0 {
			spans.add(span{first: int32(i)})
			if r.IntN(3) > 0 {
				break
			}
		}
		s := stepRecord{t: now, h: r.Float64(), span: int32(spans.n - 1), unit: units}
		s.t1 = s.t + s.h
		switch r.IntN(12) {
		case 0:
			s.kind, s.index, s.nth, s.t1 = solvers.EndRoot, r.Int32N(5), r.Int32N(9), s.t1*(1+1e-15)
		case 1:
			s.kind, s.h, s.t1, s.at = solvers.EndClip, 0, s.t, solvers.EndAt(r.IntN(4))
		case 2:
			s.member = 1
		case 3: // events that count as one happen at the last
			s.t *= 1 + 1e-14
		}
		if now = s.t1; s.h > 0 {
			units++
		}
		loose.add(&s)
		packed.add(&s)
		if packed.pack(false); packed.packed != (i+1 >= packFrom) {
			t.Fatalf("packed after %d steps", i+1)
		}
	}
	for i := range loose.n {
		want := loose.at(i, &spans)
		if got := packed.at(i, &spans); got != want {
			t.Fatalf("step %d: %+v, want %+v", i, got, want)
		}
		if packed.length(i) != want.h || packed.end(i) != want.end() {
			t.Fatalf("step %d: length %g, end %+v, want %+v", i, packed.length(i), packed.end(i), want)
		}
	}
	if most := int64(loose.n) * 30; packed.bytes() > most {
		t.Errorf("%d bytes for %d steps of which many are odd", packed.bytes(), loose.n)
	}
}

// TestEndStaysInRegisters holds that an end of a step is a struct that Go keeps in registers.
func TestEndStaysInRegisters(t *testing.T) {
	if e := reflect.TypeFor[solvers.End](); e.NumField() > 4 || e.Size() > 4*unsafe.Sizeof(uintptr(0)) {
		t.Errorf("an End has %d fields and %d bytes", e.NumField(), e.Size())
	}
}
