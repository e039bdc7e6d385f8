package report

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

var head = Heading{Model: "Ball", File: "ball.ode", Time: "t", TimeUnit: "s"}

// sample is a result by hand: two objectives with values and one without, by a
// scalar, a matrix and an initial value.
func sample() *odes.Sensitivities {
	s := &odes.Sensitivities{
		Status: "partial", From: 0, To: 2,
		Values: []odes.Value{
			{Name: "height", Unit: "m", Value: 0.1},
			{Name: "arrive", Unit: "m", Relation: "==", Value: 1e-20},
			{Name: "y[3]", Value: math.NaN(), Warnings: []string{`bounce fired once, so it has no firing 2 <"é">`}},
		},
		Variables: []odes.Variable{
			{Name: "g", Unit: "m/s^2"},
			{Name: "A", Shape: []int{3, 4}, Offset: 1},
			{Name: "x", Initial: true, Unit: "m", Offset: 13},
		},
		Columns: 14,
		Events: []odes.EventRecord{
			{Name: "bounce", Kind: "event", T: 0.625, Params: make([]float64, 14)},
			{Name: "dose", Kind: "event", Index: []int{2, 1}, T: 1.5},
			{Name: "if@7", Kind: "if", T: 1.75},
		},
		Settings: odes.RunSettings{
			Method: "dopri5", RTol: 1e-10, ATol: 1e-12, Mode: "adjoint",
			Checkpoint: "all", Backend: "generic", Lanes: 8, Threads: 2,
		},
	}
	s.Gradient = make([]float64, 3*14)
	for i := range s.Gradient {
		s.Gradient[i] = float64(i) / 8
	}
	s.Gradient[1] = math.Inf(-1)
	s.Gradient[2] = 1.0 / 3
	s.Events[0].Params[0] = -0.25
	s.Stats.Steps, s.Stats.Rejected, s.Stats.F, s.Stats.VJP = 120, 3, 850, 720
	text := source.NewFile("ball.ode", "model Ball\nevent bounce when x < 0 {}\n")
	s.Warnings = []diag.Diagnostic{
		{
			Code: odes.CodeGrazing, Level: diag.Warning, Span: source.Span{File: text, Start: 11, End: 23},
			Message: "x < 0",
		},
		{Code: odes.CodeAuto, Level: diag.Note, Message: "method = dopri5"},
	}
	return s
}

// estimated is sample with estimated errors, of the first event too.
func estimated() *odes.Sensitivities {
	s := sample()
	s.Settings.Errors = true
	s.Errors = make([]float64, len(s.Gradient))
	for i := range s.Errors {
		s.Errors[i] = 1e-9 * float64(i+1)
	}
	s.Values[0].Error = 3e-12
	s.Events[0].Error, s.Events[0].Errors = 2e-11, s.Errors[:s.Columns]
	return s
}

// twice is sample with Hessians by its scalar and its initial value, and their products with a vector.
func twice() *odes.Sensitivities {
	s := sample()
	s.Variables = []odes.Variable{s.Variables[0], s.Variables[2], {Name: "B", Shape: []int{10}, Offset: 2}}
	s.Variables[1].Offset = 1
	s.Columns = 12
	s.Gradient = s.Gradient[:3*12]
	s.Events[0].Params = s.Events[0].Params[:12]
	s.Hessian = make([]float64, 3*12*12)
	for i := range s.Hessian {
		row, column := i/12%12, i%12
		s.Hessian[i] = float64(row*column)/8 - float64(i/144)
	}
	s.Products, s.Direction = make([]float64, 3*12), make([]float64, 12)
	for i := range s.Products {
		s.Products[i] = 1 / float64(1+i)
	}
	s.Direction[0], s.Direction[11] = 1, -2
	s.Stats.SecondSteps = 240
	return s
}

// verified is what a check found: gradients that are right, wrong, inaccurate, and of an objective without a value.
func verified() *odes.Verification {
	return &odes.Verification{
		Settings: odes.RunSettings{Mode: "forward"}, Directions: 3, CrossCheck: "adjoint", Curvature: true, Large: true,
		Steps: []float64{1e-2, 1e-3},
		Objectives: []odes.Verdict{
			{
				Name: "height", Value: 0.5, Outcome: "ok", Complex: 3e-15, CrossCheck: 2e-14, Curvature: 4e-9,
				Remainders: []float64{1e-4, 1e-6}, Order: 2,
			},
			{
				Name: "area", Value: 2, Outcome: "wrong", Complex: 0.25, CrossCheck: 0.125,
				Remainders: []float64{1e-2, 1e-3}, Order: 1,
			},
			{
				Name: "path", Value: 3, Outcome: "inaccurate", Complex: 2e-3, CrossCheck: 1e-3, Refined: 1e-5,
				Remainders: []float64{0, 0}, Order: math.NaN(),
			},
			{Name: "arrive", Value: math.NaN(), Outcome: "no value"},
		},
	}
}

// measured is a benchmark of a model whose steps call its right-hand side.
func measured() *odes.Bench {
	return &odes.Bench{
		Settings: odes.RunSettings{Method: "dopri5", Checkpoint: "revolve", Backend: "native", Lanes: 8, Threads: 2},
		Runs:     15,
		RHS:      odes.BenchProgram{Nanoseconds: 123.456, Instructions: 12, Bytes: 800, Native: 256, GFlops: 1.5},
		VJP:      odes.BenchProgram{Nanoseconds: 500, Instructions: 25, Bytes: 4096, Native: 1024, GFlops: 2.25},
		Step:     odes.BenchProgram{Nanoseconds: 900, GFlops: 0.5},
		StepVJP:  odes.BenchProgram{Nanoseconds: 4000, GFlops: 0.25},
		Forward:  odes.BenchTimes{Median: 0.0025, Min: 0.002}, Adjoint: odes.BenchTimes{Median: 0.01, Min: 0.008},
		Gradient: odes.BenchTimes{Median: 0.0125, Min: 0.01},
		Steps:    1000, Evaluations: 6000, Transposes: 6000, TransposedSteps: 1000, RecomputedSteps: 120,
		PeakTrajectoryBytes: 65536, Checksum: 1.0 / 3,
	}
}

// whole is a benchmark of a model whose steps are single programs.
func whole() *odes.Bench {
	b := measured()
	b.Step.Instructions, b.StepVJP.Instructions, b.RecomputedSteps = 90, 200, 0
	return b
}

func solution() *odes.Solution {
	s := &odes.Solution{
		Status: "partial", From: 0, To: 2,
		T: []float64{0, 1, 1, 2},
		Outputs: []odes.Series{
			{Name: "x", Unit: "m", Values: []float64{2, 0, 0, 0.75}},
			{
				Name: "u", Shape: []int{2, 2},
				Values: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, math.NaN()}, Trust: odes.Lost,
			},
		},
		Values: []odes.Value{
			{Name: "height", Unit: "m", Value: 0.75},
			{Name: "area", Value: 1.2345678, Error: 1e-3, Trust: odes.Loose},
			{Name: "y", Value: math.NaN(), Trust: odes.Lost, Warnings: []string{"no value"}},
		},
		Events:   []odes.EventRecord{{Name: "bounce", Kind: "event", T: 1}},
		Settings: odes.RunSettings{Method: "rk4", RTol: 1e-6, ATol: 1e-9},
	}
	s.Stats.Steps = 4
	return s
}

// TestSensJSONReadsBack reads the JSON as a program would and compares every number.
func TestSensJSONReadsBack(t *testing.T) {
	s := sample()
	var b bytes.Buffer
	if err := sensJSON(&b, head, s, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema     int
		Objectives []struct {
			Name    string
			Value   any
			Params  map[string]any
			Initial map[string]any
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != 1 || len(got.Objectives) != 3 {
		t.Fatalf("schema %d, %d objectives", got.Schema, len(got.Objectives))
	}
	o := got.Objectives[1]
	if o.Value != 1e-20 || o.Params["g"] != s.Gradient[14] || o.Initial["x"] != s.Gradient[27] {
		t.Errorf("objective 2 reads back as %+v", o)
	}
	a := o.Params["A"].([]any)
	for i := range 3 {
		for j := range 4 {
			if x := a[i].([]any)[j]; x != s.Gradient[15+i*4+j] {
				t.Errorf("A[%d,%d] reads back as %v", i+1, j+1, x)
			}
		}
	}
	last := got.Objectives[2]
	if last.Value != "nan" || len(last.Params) != 0 || len(last.Initial) != 0 {
		t.Errorf("an objective without a value has %+v", last)
	}
}

// TestUncertainInJSON: JSON lists what a table shows as ~0, values too.
func TestUncertainInJSON(t *testing.T) {
	s := estimated()
	s.Values[1].Error = 1e-20
	s.Errors[14] = 2 * s.Gradient[14]
	var b bytes.Buffer
	if err := sensJSON(&b, head, s, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Objectives []struct{ Uncertain map[string]float64 }
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if u := got.Objectives[1].Uncertain; len(u) != 2 || u["g"] != s.Errors[14] || u["value"] != 1e-20 {
		t.Errorf("uncertain are %v", u)
	}
	run := &odes.Solution{
		T:      []float64{0, 1},
		Values: []odes.Value{{Name: "a", Value: 1e-20, Error: 2e-20}, {Name: "b", Value: 1, Error: 1e-9}},
		Outputs: []odes.Series{
			{Name: "x", Values: []float64{1, 1e-20}, Errors: []float64{0, 3e-20}},
			{Name: "y", Values: []float64{1, 2}, Errors: []float64{0, 1e-9}},
		},
	}
	b.Reset()
	if err := runJSON(&b, head, run, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	var ran struct {
		Uncertain  map[string]float64
		Objectives []struct{ Uncertain map[string]float64 }
	}
	if err := json.Unmarshal(b.Bytes(), &ran); err != nil {
		t.Fatal(err)
	}
	if len(ran.Uncertain) != 1 || ran.Uncertain["x"] != 3e-20 || ran.Objectives[0].Uncertain["value"] != 2e-20 ||
		ran.Objectives[1].Uncertain != nil {
		t.Errorf("of a run, uncertain are %+v", ran)
	}
}

// TestUncertainSecond: JSON lists second derivatives that a table shows as ~0, and NPZ has their errors where these are
// asked for.
func TestUncertainSecond(t *testing.T) {
	s := twice()
	c := s.Columns
	s.Settings.Errors = true
	s.HessianErrors, s.ProductErrors = make([]float64, 3*c*c), make([]float64, 3*c)
	s.HessianErrors[c*c+2*c+5], s.ProductErrors[c+1] = 2*math.Abs(s.Hessian[c*c+2*c+5]), 3*math.Abs(s.Products[c+1])
	s.HessianErrors[c*c+5*c+2] = 1e-9 * math.Abs(s.Hessian[c*c+5*c+2])
	var b bytes.Buffer
	if err := sensJSON(&b, head, s, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Objectives []struct {
			Hessian struct {
				Variables []string
				Uncertain map[string]map[string]float64
			}
			HVP struct{ Uncertain map[string]float64 }
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, b.Bytes())
	}
	for i, o := range got.Objectives[:2] {
		names, want := got.Objectives[0].Hessian.Variables, i
		h, v := o.Hessian.Uncertain, o.HVP.Uncertain
		if len(h) != want || len(v) != want {
			t.Errorf("objective %d: uncertain are %v, %v", i, h, v)
		} else if i == 1 && (len(h[names[2]]) != 1 || h[names[2]][names[5]] != s.HessianErrors[c*c+2*c+5] ||
			v[names[1]] != s.ProductErrors[c+1]) {
			t.Errorf("uncertain are %v, %v", h, v)
		}
	}
	b.Reset()
	if err := sensNPZ(&b, head, s, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	npz := readNPZ(t, b.Bytes())
	if h, v := npz["error_hessian.npy"], npz["error_hvp.npy"]; h.shape != "(3, 12, 12,)" || v.shape != "(3, 12,)" ||
		h.data[c*c+2*c+5] != s.HessianErrors[c*c+2*c+5] || v.data[c+1] != s.ProductErrors[c+1] {
		t.Errorf("NPZ has errors %+v, %+v", h, v)
	}
}

func TestNumbersReadBack(t *testing.T) {
	for _, x := range []float64{
		0, math.Copysign(0, -1), 1, -2, 0.1, 1.0 / 3, 1e-5, 9.99e-6, 1e-10, 5e-324, math.MaxFloat64, 1e15, 1e16,
		123456789012345678, 2.5e-3,
	} {
		var got float64
		text := string(appendNumber(nil, x))
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if math.Float64bits(got) != math.Float64bits(x) {
			t.Errorf("%v was written as %s", x, text)
		}
	}
}

func TestSignificant(t *testing.T) {
	for _, c := range []struct {
		x    float64
		n    int
		want string
	}{
		{0.7959117, 4, "0.7959"},
		{1.6602322, 3, "1.66"},
		{99999, 3, "1.00e+05"},
		{999.96, 4, "1000"},
		{99.996, 4, "100.0"},
		{-12.5, 4, "-12.50"},
		{1e-5, 3, "1.00e-05"},
		{0.00012345, 3, "0.000123"},
		{0, 8, "0"},
		{math.NaN(), 3, "nan"},
		{math.Inf(-1), 3, "-inf"},
	} {
		if got := significant(c.x, c.n); got != c.want {
			t.Errorf("significant(%v, %d) = %q, want %q", c.x, c.n, got, c.want)
		}
	}
}

func TestUncertain(t *testing.T) {
	for _, c := range []struct {
		x, e float64
		n    int
		want string
	}{
		{0.041152345, 3e-5, 8, "0.04115 ± 3e-05"},
		{0.041152345, 3e-12, 8, "0.041152345 ± 3e-12"},
		{-1234.5678, 20, 8, "-1.23e+03 ± 2e+01"},
		{1.5, 100, 8, "2 ± 1e+02"},
		{0, 0, 8, "0"},
		{0, 1e-3, 8, "0 ± 0.001"},
		{2.5, 0, 4, "2.500 ± 0"},
		{2.5, math.NaN(), 4, "2.500 ± nan"},
	} {
		if got := uncertain(c.x, c.e, c.n); got != c.want {
			t.Errorf("uncertain(%g, %g, %d) = %q, want %q", c.x, c.e, c.n, got, c.want)
		}
	}
}

func TestGraded(t *testing.T) {
	for _, c := range []struct {
		x, e  float64
		trust odes.Trust
		want  string
	}{
		{0.041152345, 3e-5, odes.Sound, "0.041"},
		{8.1e-10, 1e-11, odes.Sound, "8e-10"},
		{8.1e-10, 4.3e-11, odes.Sound, "~8e-10"},
		{-8.1e-10, 1.9e-10, odes.Sound, "~-8e-10"},
		{8.1e-10, 2.1e-10, odes.Sound, "~0"},
		{8.1e-10, 1, odes.Sound, "~0"},
		{8.1e-10, 1, odes.Lost, "8e-10!"},
		{0, 1e-3, odes.Sound, "0"},
	} {
		if got := graded(c.x, c.e, c.trust, 8); got != c.want {
			t.Errorf("graded(%g, %g, %v) = %q, want %q", c.x, c.e, c.trust, got, c.want)
		}
	}
}

// TestRounding: what is left over where a quantity ought to be zero has no digits worth reading.
func TestRounding(t *testing.T) {
	s := &odes.Solution{
		T:        []float64{0, 1, 2},
		Outputs:  []odes.Series{{Name: "x", Values: []float64{2, -7.3154912e-16, 1.2345678e-9}}},
		Settings: odes.RunSettings{RTol: 1e-8, ATol: 1e-10},
	}
	var b bytes.Buffer
	if err := RunTable(&b, Heading{Time: "t"}, s, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), " -7e-16\n") || !strings.Contains(b.String(), " 1.23457e-09\n") {
		t.Error(b.String())
	}
}

// TestUnconfirmed: outputs that nothing was compared with have marks, if there was a comparison.
func TestUnconfirmed(t *testing.T) {
	for by, want := range map[string]string{"": " 2.000\n", "a run of vern9": " 2.000!\n"} {
		s := &odes.Solution{
			T:        []float64{0, 1},
			Outputs:  []odes.Series{{Name: "x", Values: []float64{1, 2}, Trust: odes.Lost}},
			Settings: odes.RunSettings{RTol: 1e-6, CheckedBy: by},
		}
		var b bytes.Buffer
		if err := RunTable(&b, Heading{Time: "t"}, s, TableOptions{}); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if !strings.Contains(got, want) || strings.Contains(got, "! not to be trusted") != (by != "") {
			t.Errorf("by %q:\n%s", by, got)
		}
	}
}

func TestDigits(t *testing.T) {
	for rtol, want := range map[float64]int{0: 8, 1e-3: 3, 1e-6: 4, 1e-10: 8, 1e-14: 12} {
		if got := digits(rtol); got != want {
			t.Errorf("digits(%g) = %d, want %d", rtol, got, want)
		}
	}
}

// TestSensNPZ reads the archive by the description of the format.
func TestSensNPZ(t *testing.T) {
	s := sample()
	var b bytes.Buffer
	if err := sensNPZ(&b, head, s, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	got := readNPZ(t, b.Bytes())
	if names := strings.Fields(got["objectives.txt"].text); strings.Join(names, " ") != "height arrive y[3]" {
		t.Errorf("objectives.txt holds %q", names)
	}
	value, a, x := got["value.npy"], got["d_A.npy"], got["d_initial_x.npy"]
	if value.shape != "(3,)" || a.shape != "(3, 3, 4,)" || x.shape != "(3,)" || got["d_g.npy"].shape != "(3,)" {
		t.Fatalf("shapes %s %s %s", value.shape, a.shape, x.shape)
	}
	if value.data[0] != 0.1 || !math.IsNaN(value.data[2]) {
		t.Errorf("value holds %v", value.data)
	}
	for k := range 12 {
		if a.data[12+k] != s.Gradient[14+1+k] {
			t.Errorf("d_A[1] holds %v at %d", a.data[12+k], k)
		}
		if !math.IsNaN(a.data[24+k]) {
			t.Error("an objective without a value has a derivative")
		}
	}
	if x.data[1] != s.Gradient[27] {
		t.Errorf("d_initial_x holds %v", x.data)
	}
}

func TestSecondNPZ(t *testing.T) {
	s := twice()
	var b bytes.Buffer
	if err := sensNPZ(&b, head, s, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	got := readNPZ(t, b.Bytes())
	names := strings.Fields(got["columns.txt"].text)
	if len(names) != s.Columns || names[1] != "initial(x)" || names[11] != "B[10]" {
		t.Errorf("columns.txt holds %q", names)
	}
	h, products, v := got["hessian.npy"], got["hvp.npy"], got["direction.npy"]
	if h.shape != "(3, 12, 12,)" || products.shape != "(3, 12,)" || v.shape != "(12,)" {
		t.Fatalf("shapes %s %s %s", h.shape, products.shape, v.shape)
	}
	if h.data[144+13] != s.Hessian[144+13] || products.data[12+3] != s.Products[12+3] || v.data[11] != -2 {
		t.Error("other numbers than those of the result")
	}
	if !math.IsNaN(h.data[2*144]) || !math.IsNaN(products.data[24]) {
		t.Error("an objective without a value has second derivatives")
	}
}

func TestRunNPZ(t *testing.T) {
	var b bytes.Buffer
	if err := runNPZ(&b, head, solution(), TableOptions{}); err != nil {
		t.Fatal(err)
	}
	got := readNPZ(t, b.Bytes())
	if u := got["u.npy"]; u.shape != "(4, 2, 2,)" || u.data[5] != 6 {
		t.Errorf("u is %+v", u)
	}
	if got["t.npy"].data[3] != 2 || got["event_t.npy"].data[0] != 1 || got["events.txt"].text != "bounce\n" {
		t.Errorf("got %+v", got)
	}
}

type member struct {
	text, shape string
	data        []float64
}

func readNPZ(t *testing.T, archive []byte) map[string]member {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]member{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f.Name, ".npy") {
			all[f.Name] = member{text: string(b)}
			continue
		}
		if string(b[:8]) != "\x93NUMPY\x01\x00" {
			t.Fatalf("%s does not begin as the format wants", f.Name)
		}
		n := 10 + int(binary.LittleEndian.Uint16(b[8:]))
		if n%64 != 0 || b[n-1] != '\n' {
			t.Errorf("%s: the header ends at byte %d", f.Name, n)
		}
		_, shape, ok := strings.Cut(string(b[10:n]), "'descr': '<f8', 'fortran_order': False, 'shape': ")
		if !ok {
			t.Fatalf("%s has header %q", f.Name, b[10:n])
		}
		m := member{shape: shape[:strings.IndexByte(shape, ')')+1]}
		for at := n; at < len(b); at += 8 {
			m.data = append(m.data, math.Float64frombits(binary.LittleEndian.Uint64(b[at:])))
		}
		all[f.Name] = m
	}
	return all
}

// TestTableAbbreviates checks that what does not fit is left out, and that the table says so.
func TestTableAbbreviates(t *testing.T) {
	s := sample()
	v := s.Values[0]
	row := s.Gradient[:14]
	s.Values, s.Gradient = nil, nil
	for i := range 200 {
		v.Name = "y[" + strconv.Itoa(i+1) + "]"
		s.Values = append(s.Values, v)
		s.Gradient = append(s.Gradient, row...)
	}
	var b bytes.Buffer
	if err := SensTable(&b, head, s, TableOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !strings.Contains(text, "188 objectives not shown") || !strings.Contains(text, "… 7 more") {
		t.Errorf("nothing says what was left out:\n%s", text)
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(line)); n > 81 && !strings.Contains(line, "not shown") {
			t.Errorf("a line has %d columns:\n%s", n, line)
		}
	}
	b.Reset()
	if err := SensTable(&b, head, s, TableOptions{Width: 80, All: true}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, "not shown") || !strings.Contains(text, "y[200]") {
		t.Error("not everything is shown")
	}
}

// failing is a disk that is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriteErrorsAreReported(t *testing.T) {
	for _, f := range Formats() {
		for result, write := range results(f, TableOptions{}) {
			if err := write(failing{}); err == nil {
				t.Errorf("%s of %s: the error of the writer was lost", f.Name, result)
			}
		}
	}
	if Stats(failing{}, sample()) == nil {
		t.Error("stats: the error of the writer was lost")
	}
}
