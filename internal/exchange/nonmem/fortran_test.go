package nonmem_test

import (
	"math"
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
)

// TestFunctions: functions have the values that they have in Fortran, which the objective of one measurement shows.
func TestFunctions(t *testing.T) {
	table := "ID,TIME,DV,DOSE\n1,1,2,10\n"
	for formula, want := range map[string]float64{
		"MOD(-7, 4) + THETA(1)":           -2.7,
		"MOD(THETA(1) - 7.3, 4)":          -3,
		"MOD(THETA(1) + 6.7, -4)":         3,
		"MOD(-1.3 + THETA(1), 2)":         -1,
		"INT(-3*THETA(1) - 1.8)":          -2,
		"PHI(THETA(1))":                   0.6179114221889526,
		"2*PHI(-THETA(1) - 1)**2":         2 * 0.09680048458561033 * 0.09680048458561033,
		"GAMLN(THETA(1) + 4.7)":           math.Log(24),
		"-2**2 + THETA(1)":                -3.7,
		"2**3**2*THETA(1)":                512 * 0.3,
		"MIN(THETA(1), 0.2, 4)":           0.2,
		"DLOG10(10*THETA(1))":             math.Log10(3),
		"7/2*THETA(1)":                    1.05,
		"THETA(1) + (DOSE.EQ.10)*2":       2.3,
		"THETA(1) + (MOD(DOSE,4).EQ.2)*2": 2.3,
	} {
		text := "$PROBLEM t\n$INPUT ID TIME DV DOSE\n$DATA rows.csv IGNORE=@\n$PRED\nX = " + formula +
			"\nY = X + ETA(1) + EPS(1)\n$THETA 0.3\n$OMEGA 0.04\n$SIGMA 0.25\n$EST METHOD=1"
		r := 2 - want
		want := r*r/0.29 + math.Log(0.29)
		if got := objective(t, "run.ctl", text, beside(table)); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("%s: the objective is %v, want %v", formula, got, want)
		}
	}
}

// TestKindsByFunctions: conditions that choose rows may compute: the first and the third row have other errors.
func TestKindsByFunctions(t *testing.T) {
	table := "ID,TIME,DV,K\n1,1,2,1\n1,2,3,4\n1,3,5,3\n1,4,6,2\n"
	for _, when := range []string{"MOD(K,2).EQ.1", "K/3*0.7.LT.0.24.OR.K**2.EQ.9", "ABS(K-2).EQ.1"} {
		text := "$PROBLEM t\n$INPUT ID TIME DV K\n$DATA rows.csv IGNORE=@\n$PRED\n" +
			"F1 = THETA(1) + ETA(1)\nY = F1 + EPS(1)\n" +
			"IF (" + when + ") Y = F1 + 2*EPS(1)\n$THETA 3\n$OMEGA 1E-12\n$SIGMA 0.25\n"
		want := 1 + math.Log(1) + 0 + math.Log(0.25) + 4 + math.Log(1) + 36 + math.Log(0.25)
		if got := objective(t, "run.ctl", text, beside(table)); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("%s: the objective is %v, want %v", when, got, want)
		}
	}
}

// TestSigns: the sign of a residual error says nothing, since its variance counts.
func TestSigns(t *testing.T) {
	usual := objective(t, "run.ctl", run("", "Y = F + F*EPS(1)", ""), beside(rows))
	for _, code := range []string{
		"Y = F - F*EPS(1)", "Y = F*(1 - EPS(1))", "Y = F - EPS(1)*F", "W = -F\nY = F + W*EPS(1)", "Y = F - (-F*EPS(1))",
		"W = F - 2*F\nY = F + W*EPS(1)",
	} {
		if got := objective(t, "run.ctl", run("", code, ""), beside(rows)); !(math.Abs(got-usual) <= 1e-6) {
			t.Errorf("%s: the objective is %v, want %v", code, got, usual)
		}
	}
	two := func(code string) float64 {
		rest := "$THETA (0, 2) (0, 20)\n$OMEGA 0.09\n$SIGMA 0.01 4\n$EST METHOD=1 INTER"
		return objective(t, "run.ctl", run("", code, rest), beside(rows))
	}
	if a, b := two("Y = F + F*EPS(1) + EPS(2)"), two("Y = F - F*EPS(1) - EPS(2)"); !(math.Abs(a-b) <= 1e-9) {
		t.Errorf("of two errors the objective is %v, and with signs %v", a, b)
	}
}

// TestOptionsBeforeBlock: options may stand before BLOCK(n) and DIAGONAL(n).
func TestOptionsBeforeBlock(t *testing.T) {
	pk := "CL = THETA(1)*EXP(ETA(1))\nV = THETA(2)*EXP(ETA(2))\nKA=1\nS2=V"
	of := func(omega string) string {
		out, list := translate(run(pk, "", "$THETA (0, 2) (0, 20)\n$OMEGA "+omega+"\n$SIGMA 1\n"), beside(rows))
		if out == nil {
			t.Fatalf("%s: %v", omega, list.Err())
		}
		return out.Text()
	}
	for before, behind := range map[string]string{
		"STANDARD CORRELATION BLOCK(2) 0.3 0.5 0.2": "BLOCK(2) STANDARD CORRELATION 0.3 0.5 0.2",
		"CHOLESKY BLOCK(2) 0.3 0.1 0.2":             "BLOCK(2) CHOLESKY 0.3 0.1 0.2",
		"FIX BLOCK(2) 0.3 0.1 0.2":                  "BLOCK(2) FIX 0.3 0.1 0.2",
		"SD DIAGONAL(2) 0.3 0.2":                    "DIAGONAL(2) SD 0.3 0.2",
	} {
		if a, b := of(before), of(behind); a != b {
			t.Errorf("%s:\n%s\n%s:\n%s", before, a, behind, b)
		}
	}
}

// TestMidway: a note says where the initial value of a THETA is not written.
func TestMidway(t *testing.T) {
	out, list := translate(run("", "", "$THETA (0, 2)\n (0,,20)\n$OMEGA 0.09\n$SIGMA 1\n"), beside(rows))
	if out == nil || !strings.Contains(out.Text(), "= 10   in [0, 20]") {
		t.Fatalf("%v", list.Err())
	}
	for _, d := range list.All() {
		if d.Level == diag.Note && strings.Contains(d.Message, "line 13") &&
			strings.Contains(d.Message, "it is 10 here") {
			return
		}
	}
	t.Errorf("no note: %v", list.All())
}
