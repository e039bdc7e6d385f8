package export_test

import (
	"archive/zip"
	"context"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/exchange/export"
)

// unpacked returns the files of an FMU.
func unpacked(t *testing.T, fmu string) map[string]string {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(fmu), int64(len(fmu)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}

// importer checks the derivatives of an FMU at the start and near it, in both modes: the directional ones against
// differences, and the adjoint ones against the directional ones. It then runs the FMU as an importer does, by Heun's
// method of order 3 with bisection for indicators, and prints the end.
const importer = `
#include <stdio.h>
enum { UNKNOWNS = MODEL_STATES + MODEL_DERIVED + MODEL_ROOTS, KNOWNS = 1 + MODEL_PARAMS + MODEL_VALUES,
    SIGNALS = MODEL_ROOTS + MODEL_SWITCHES };
static void *m;
static void check(int ok) { if (!ok) { printf("nan\n"); exit(0); } }
static void derivatives(int knowns)
{
    fmiReference of[UNKNOWNS + 1], by[KNOWNS];
    double forward[KNOWNS][UNKNOWNS + 1], back[KNOWNS], at[5][UNKNOWNS + 1], x, one = 1.0;
    double difference = 0.0, transpose = 0.0, size;
    int i, j, k;
    for (i = 0; i < UNKNOWNS; i++)
        of[i] = FIRST_RATE + i;
    for (j = 0; j < knowns; j++) {
        by[j] = j;
        check(fmi3GetDirectionalDerivative(m, of, UNKNOWNS, &by[j], 1, &one, 1, forward[j], UNKNOWNS) == fmiOK);
    }
    for (j = 0; j < knowns; j++) {
        double h;
        check(fmi3GetFloat64(m, &by[j], 1, &x, 1) == fmiOK);
        h = 2e-4*fmax(fabs(x), 1e-2);
        for (k = -2; k <= 2; k++) {
            const double near = x + k*h;
            fmi3SetFloat64(m, &by[j], 1, &near, 1);
            check(fmi3GetFloat64(m, of, UNKNOWNS, at[k + 2], UNKNOWNS) == fmiOK);
        }
        fmi3SetFloat64(m, &by[j], 1, &x, 1);
        for (i = 0; i < UNKNOWNS; i++) {
            const double d = (8.0*(at[3][i] - at[1][i]) - (at[4][i] - at[0][i]))/(12.0*h);
            size = fabs(d) + 1e-3*fabs(at[2][i])/fmax(fabs(x), 1e-2) + 1e-9;
            difference = fmax(difference, fabs(d - forward[j][i])/size);
        }
    }
    for (i = 0; i < UNKNOWNS; i++) {
        check(fmi3GetAdjointDerivative(m, &of[i], 1, by, knowns, &one, 1, back, knowns) == fmiOK);
        size = 1e-300;
        for (j = 0; j < knowns; j++)
            size = fmax(size, fabs(back[j]));
        for (j = 0; j < knowns; j++)
            transpose = fmax(transpose, fabs(back[j] - forward[j][i])/size);
    }
    printf("%.17g\n%.17g\n", difference, transpose);
}
static void rates_at(double t, const double *x, double *d)
{
    fmi3SetTime(m, t);
    fmi3SetContinuousStates(m, x, MODEL_STATES);
    check(fmi3GetContinuousStateDerivatives(m, d, MODEL_STATES) == fmiOK);
}
static void step(double t, double h, const double *x, double *to) /* of Heun, whose stages are inside */
{
    double k1[MODEL_STATES], k2[MODEL_STATES], k3[MODEL_STATES], at[MODEL_STATES];
    int i;
    rates_at(t, x, k1);
    for (i = 0; i < MODEL_STATES; i++)
        at[i] = x[i] + h/3*k1[i];
    rates_at(t + h/3, at, k2);
    for (i = 0; i < MODEL_STATES; i++)
        at[i] = x[i] + 2*h/3*k2[i];
    rates_at(t + 2*h/3, at, k3);
    for (i = 0; i < MODEL_STATES; i++)
        to[i] = x[i] + h/4*(k1[i] + 3*k3[i]);
    fmi3SetTime(m, t + h);
    fmi3SetContinuousStates(m, to, MODEL_STATES);
}
static int differ(const double *a, const double *b)
{
    int i;
    for (i = 0; i < SIGNALS; i++)
        if ((a[i] > 0.0) != (b[i] > 0.0))
            return 1;
    return 0;
}
int main(void)
{
    double t, to, span, next, h, x[MODEL_STATES], y[MODEL_STATES], g[SIGNALS + 1], was[SIGNALS + 1], lo, hi;
    bool again, stop = false, nominals, values, has, event, ends;
    void *copy = NULL;
    int i;
    m = fmi3InstantiateModelExchange("a", "another", NULL, false, false, NULL, NULL);
    check(m == NULL);
    m = fmi3InstantiateModelExchange("a", MODEL_TOKEN, NULL, false, false, NULL, NULL);
    check(m != NULL);
    MODEL(span)(((Instance *)m)->at.p, &t, &to);
    span = to - t;
    fmi3EnterInitializationMode(m, false, 0, t + OFFSET*(to - t), true, to);
    derivatives(1 + MODEL_PARAMS);
    fmi3ExitInitializationMode(m);
    fmi3GetFMUState(m, &copy);
    for (i = 0; i < MODEL_VALUES; i++) {
        fmiReference r = FIRST_VALUE + i;
        double v;
        fmi3GetFloat64(m, &r, 1, &v, 1);
        v = v*(1.0 + 0.03*(i % 7)) + 0.01*(i % 5 + 1);
        fmi3SetFloat64(m, &r, 1, &v, 1);
    }
    derivatives(KNOWNS);
    fmi3SetFMUState(m, copy);
    fmi3FreeFMUState(m, &copy);
    fmi3Reset(m);
    fmi3EnterInitializationMode(m, false, 0, t, true, to);
    fmi3ExitInitializationMode(m);
    for (;;) {
        do
            check(fmi3UpdateDiscreteStates(m, &again, &stop, &nominals, &values, &has, &next) == fmiOK);
        while (again && !stop);
        fmi3GetContinuousStates(m, x, MODEL_STATES);
        if (stop || t >= to)
            break;
        fmi3EnterContinuousTimeMode(m);
        fmi3GetEventIndicators(m, was, SIGNALS);
        if (!has || next > to)
            next = to;
        for (event = false; !event && t < next;) {
            h = fmin(span/STEPS, next - t);
            step(t, h, x, y);
            fmi3GetEventIndicators(m, g, SIGNALS);
            if (differ(was, g)) {
                for (lo = 0.0, hi = h, i = 0; i < 60; i++) {
                    const double mid = lo + (hi - lo)/2;
                    step(t, mid, x, y);
                    fmi3GetEventIndicators(m, g, SIGNALS);
                    if (differ(was, g))
                        hi = mid;
                    else
                        lo = mid;
                }
                step(t, h = hi, x, y);
                event = true;
            }
            t = h == next - t ? next : t + h;
            fmi3SetTime(m, t);
            memcpy(x, y, sizeof x);
            fmi3GetEventIndicators(m, was, SIGNALS);
            fmi3CompletedIntegratorStep(m, true, &again, &ends);
            event = event || again;
        }
        fmi3EnterEventMode(m);
    }
    printf("%.17g\n", t);
    for (i = 0; i < MODEL_STATES; i++)
        printf("%.17g\n", x[i]);
    fmi3Terminate(m);
    fmi3FreeInstance(m);
    return 0;
}
`

// everything has what a derivative has a rule for, and jumps of each kind: at known times, of the time, of states.
const everything = `model Everything
time t from 0 to 12
param k = 0.3, P = 5, w = 0.4, thr = 1.2, z0 = 0.7
param kk = 2*k
state x = 0.2, y = 0.1
state z = z0 + kk
discrete on = 1
let hill = x^k/(1 + x^k) + hypot(x, y) + atan2(y, z) + erf(x) + lgamma(1 + z) + min(x, z)*0.1 + max(x, y) - abs(y - z)
x' = -k*x + (if mod(t, P) < w then 5 else 0) + interp([3, 5, 9], [0, 0.5, 0.1], t) - 0.01*tanh(hill)
y' = (if x > 0.9 then 0.2 else -0.1*y) + 0.01*floor(3*z) + on*0.05*sin(0.5*t) + 0.01*sigmoid(z)*log1p(x^2)
z' = -0.2*z + 0.1*interp([0, 0.5, 1, 3], [0.1, 0.3, 0.2, 0.5], x, kind = spline) + (if x > 0 then sqrt(x) else 0)*0.1
event hi when x > thr priority 2 at start { y += 0.1; on = 0.5*on }
event tick every 2.5 from 1 count 3 { on = on + 0.2 }
event both at 4.2, kk*10.1 priority 3 { x = x/2 }
event low when z crosses 0.75 down once { z = z + 0.1 }
event fin when y >= 3 { stop }
output q = x*y + on
output on
`

// TestFMU compiles FMUs and compares derivatives and ends of runs.
func TestFMU(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no C compiler")
	}
	for _, c := range []struct {
		file, steps, offset string
		within              float64
	}{
		{"", "3000.0", "0.01", 1e-7},
		{"bounce", "2000.0", "0", 1e-8},
		{"stairs", "3000.0", "0", 1e-7},
		{"generator", "30000.0", "0", 1e-5},
	} {
		t.Run("model "+c.file, func(t *testing.T) {
			t.Parallel()
			name, text, dir := c.file+".ode", everything, t.TempDir()
			files := os.DirFS(dir)
			if c.file != "" {
				folder := filepath.Join("../../../examples", c.file)
				read, err := os.ReadFile(filepath.Join(folder, name))
				if err != nil {
					t.Fatal(err)
				}
				text, files = string(read), os.DirFS(folder)
			}
			fmu, _, err := exported("fmu", name, text, files, "")
			if err != nil {
				t.Fatal(err)
			}
			source := ""
			for name, text := range unpacked(t, fmu) {
				if strings.HasSuffix(name, ".c") {
					source = text
				}
			}
			m, err := odes.Parse(name, text, odes.ParseOptions{Files: files})
			if err != nil {
				t.Fatal(err)
			}
			want := ends(t, m, name, text, odes.ParseOptions{Files: files})
			program := source + "#define OFFSET " + c.offset + "\n#define STEPS " + c.steps + "\n" + importer
			file, binary := filepath.Join(dir, "fmu.c"), filepath.Join(dir, "fmu")
			if err := writeFile(file, []byte(program)); err != nil {
				t.Fatal(err)
			}
			said, err := exec.Command(gcc, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-o", binary,
				file, "-lm").CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%.3000s", err, said)
			}
			got := numbers(t, exec.Command(binary))
			if len(got) != 4+len(want) {
				t.Fatal(got)
			}
			for k, most := range []float64{1e-5, 1e-12, 1e-5, 1e-12} {
				if k < 2 && c.file == "generator" {
					continue // at rest all is 0, but for rounding
				}
				if !(got[k] <= most) {
					t.Errorf("derivatives: check %d is %g, more than %g", k, got[k], most)
				}
			}
			for k, v := range want {
				if e := math.Abs(got[4+k]-v) / max(1, math.Abs(v)); !(e <= c.within) {
					t.Errorf("number %d at the end is %v in the FMU and %v here", k, got[4+k], v)
				}
			}
		})
	}
}

// ends returns the end of a run and what the states are there.
func ends(t *testing.T, m *odes.Model, name, text string, o odes.ParseOptions) (want []float64) {
	t.Helper()
	symbols, err := m.Symbols(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Kind == "state" {
			text += "\noutput end_of_" + s.Name + " = " + s.Name
		}
	}
	if m, err = odes.Parse(name, text, o); err != nil {
		t.Fatal(err)
	}
	s, err := m.Solve(context.Background(), odes.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	want = []float64{s.To}
	for _, o := range s.Outputs {
		if strings.HasPrefix(o.Name, "end_of_") {
			want = append(want, o.Values[len(o.Values)-1])
		}
	}
	return want
}

// TestFMUDescription looks for what an importer reads.
func TestFMUDescription(t *testing.T) {
	fmu, _, err := exported("fmu", "model.ode", everything, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	again, _, _ := exported("fmu", "model.ode", everything, nil, "")
	if fmu != again {
		t.Error("an FMU of the same model has other bytes")
	}
	text := unpacked(t, fmu)["modelDescription.xml"]
	for _, want := range []string{
		`fmiVersion="3.0" modelName="Everything"`, `modelIdentifier="Everything"`,
		`providesDirectionalDerivatives="true" providesAdjointDerivatives="true"`,
		`<DefaultExperiment startTime="0" stopTime="12"/>`,
		`<Float64 name="t" valueReference="0" causality="independent" variability="continuous"/>`,
		`<Float64 name="k" valueReference="1" causality="parameter" variability="tunable" start="0.3"/>`,
		`name="kk" valueReference="15" causality="calculatedParameter" variability="tunable" initial="calculated"/>`,
		`name="z" valueReference="8" causality="local" variability="continuous" initial="calculated"/>`,
		`name="der(x)" valueReference="11" causality="local" variability="continuous" initial="calculated" ` +
			`derivative="6"/>`,
		`<InitialUnknown valueReference="8" dependencies="1 5"/>`,
		`<ContinuousStateDerivative valueReference="13" dependencies="6 8"/>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
}

// TestFMURefused names what an FMU cannot be.
func TestFMURefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"time t from 0 to 1\nstate x = 1\nalg a = 1\nx' = -a\n0 = a^3 + a - x\n", "a is an algebraic unknown"},
		{"time t from 0 to 1\nstate x[2] = 1\nmass(x) = [[1, 0.5], [0, 0]]\nx' = -x\n", "mass matrix"},
		{"time t from 0 to 1\nstate x = 1\nx' = -x\nevent e when x < 0.5, delay = 0.1 { x = 1 }\n", "e has a delay"},
		{"time t from 0 to 1\nstate x = 1\nx' = 1 - x\nequilibrate { }\n", "the run begins at a steady state"},
	} {
		_, _, err := exported("fmu", "model.ode", "model M\n"+c.text, nil, "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\nis told %v, want %s", c.text, err, c.want)
		}
	}
}

// TestFMUCompiled makes a library where there is a compiler.
func TestFMUCompiled(t *testing.T) {
	fmu, _, err := exported("fmu", "model.ode", everything, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CC", "no-such-compiler")
	_, err = export.Compile(context.Background(), fmu)
	if err == nil || !strings.Contains(err.Error(), "leave --binary out") {
		t.Error(err)
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no C compiler")
	}
	t.Setenv("CC", "gcc -O0")
	with, err := export.Compile(context.Background(), fmu)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for name, text := range unpacked(t, with) {
		found = found || strings.HasPrefix(name, "binaries/") && len(text) > 1000
	}
	if !found {
		t.Error("there is no library")
	}
}
