package nonmem_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
	"odes.dev/odes/internal/exchange/nonmem"
	"odes.dev/odes/internal/testing/mangle"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// translate is the translation of a text beside files.
func translate(text string, files fstest.MapFS) (*source.File, *diag.List) {
	var list diag.List
	return nonmem.Translate(source.NewFile("run.ctl", text), files, &list), &list
}

// objective is NONMEM's objective of a text, at its values.
func objective(t *testing.T, name, text string, files fstest.MapFS) float64 {
	t.Helper()
	m, err := odes.Parse(name, text, odes.ParseOptions{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Population(t.Context(), odes.Options{
		Threads: 1, Settings: []odes.Setting{{Key: "solver.rtol", Value: "1e-7"}},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	return p.OFV
}

// folder is a folder of files.
func folder(t testing.TB, dir string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = &fstest.MapFile{Data: text}
	}
	return files
}

// TestPublished: the objective of control streams is that of NONMEM, or of programs of others for these data. What was
// published is Wang's table and Bauer's; all of it was computed by two programs of their own, with exact derivatives.
// That of two occasions was computed with the effects of the next row between rows, as NONMEM has it.
func TestPublished(t *testing.T) {
	files := folder(t, "testdata")
	for name, want := range map[string]float64{
		"wang2007_prop": 39.45755008595762,
		"bauer402":      195.83915823370305,
		"theo_sd_add":   116.80341296121847,
		"warfarin_lag":  293.5003091827158,
		"p_block3":      -48.605192491362814,
		"p_blq":         -54.23471713025787,
		"p_idr":         37.17411182420584,
		"p_iov":         -68.7989146110219,
		"p_mm":          -39.67284332825106,
		"p_ss":          -25.447621860878833,
	} {
		text := string(files[name+".ctl"].Data)
		if !nonmem.Is(text) {
			t.Errorf("%s is not recognised", name)
		}
		if got := objective(t, name+".ctl", text, files); !(math.Abs(got-want) <= 2e-6*math.Abs(want)) {
			t.Errorf("%s: the objective is %v, want %v", name, got, want)
		}
	}
}

// rows is a table with two kinds of measurements, covariates and doses.
const rows = `ID,TIME,DV,AMT,EVID,CMT,DVID,WT,SEX,OCC,AGE
1,0,.,100,1,1,0,70,1,1,30
1,1,5,0,0,2,1,70,1,1,30
1,1,50,0,0,2,2,70,1,1,30
1,4,3,0,0,2,1,70,1,2,31
2,0,.,80,1,1,0,60,2,1,40
2,2,4,0,0,2,1,60,2,1,41
2,6,30,0,0,2,2,60,2,2,41
`

// run is a control stream of parts, with what is usual where a part is "".
func run(pk, code, rest string) string {
	if pk == "" {
		pk = "CL = THETA(1)*EXP(ETA(1))\nV = THETA(2)\nKA = 1\nS2 = V"
	}
	if code == "" {
		code = "Y = F + EPS(1)"
	}
	if rest == "" {
		rest = "$THETA (0, 2) (0, 20)\n$OMEGA 0.09\n$SIGMA 1\n$EST METHOD=1 INTER"
	}
	return "$PROBLEM test\n$INPUT ID TIME DV AMT EVID CMT DVID WT SEX OCC AGE\n$DATA rows.csv IGNORE=@\n" +
		"$SUBROUTINES ADVAN2 TRANS2\n$PK\n" + pk + "\n$ERROR\n" + code + "\n" + rest + "\n"
}

func beside(text string) fstest.MapFS {
	return fstest.MapFS{"rows.csv": &fstest.MapFile{Data: []byte(text)}}
}

// TestForms: forms of the records, by lines of their translation.
func TestForms(t *testing.T) {
	usual := "$THETA (0, 2) (0, 20)\n$OMEGA 0.09\n$SIGMA 1\n"
	for _, c := range []struct {
		what, pk, code, rest string
		want                 []string
		not                  []string
	}{
		{what: "the usual", want: []string{
			"param theta_CL = 2    in [0, inf]", "param V        = 20   in [0, inf]",
			"param w_CL     = 0.3  in [0, inf]",
			"random eta_CL  ~ normal(0, w_CL)", "let CL = theta_CL*exp(eta_CL)", "depot'   = -depot",
			"let F  = central/V",
			"observe y = F ~ normal(sd_add) from D.DV", `data D = csv("rows.csv", time = "TIME")`, "marginal = focei",
		}, not: []string{"WT", "OCC"}},
		{what: "kinds of measurements", code: "IF (DVID.EQ.1) THEN\n Y = F + EPS(1)\nELSE\n Y = 10*F*(1 + " +
			"EPS(1))\nENDIF", want: []string{
			"observe y1 = F ~ normal(sd_add) from D.DV where D.DVID == 1",
			"observe y2 = 10*F ~ normal(10*F*sd_add) from D.DV where D.DVID == 2",
		}},
		{what: "kinds by a number", code: "Q = DVID - 1\nY = (1-Q)*F + Q*F*10 + EPS(1)", want: []string{
			"observe y1 = F ~ normal(sd_add) from D.DV where D.DVID == 1",
			"observe y2 = F*10 ~ normal(sd_add) from D.DV where D.DVID == 2",
		}},
		{
			what: "covariates", pk: "TVCL = THETA(1)*(WT/70)**0.75\nIF (SEX.EQ.2) TVCL = TVCL*0.8\nCL = " +
				"TVCL*EXP(ETA(1))\nV = THETA(2)\nKA=1\nS2=V",
			want: []string{
				"param WT  = 70  ## of the subject", "let TVCL_1 = theta_TVCL*(WT/70)^0.75",
				"if abs(SEX - 2) < 0.5 then TVCL_1*0.8 else TVCL_1", "WT = D.WT", "SEX = D.SEX",
			},
		},
		{what: "what changes in time", pk: "CL = THETA(1)*AGE/30*EXP(ETA(1))\nV = THETA(2)\nKA=1\nS2=V", want: []string{
			"let AGE = interp(D.time, D.AGE, t, kind = next)",
		}},
		{
			what: "an effect of each occasion", pk: "IOV = ETA(2)\nIF (OCC.EQ.2) IOV = ETA(3)\nCL = " +
				"THETA(1)*EXP(ETA(1)+IOV)\nV = THETA(2)\nKA=1\nS2=V",
			rest: usual + "$OMEGA BLOCK(1) 0.04\n$OMEGA BLOCK(1) SAME\n", want: []string{
				"random eta_IOV    ~ normal(0, w_IOV)", "random eta_IOV_2  ~ normal(0, w_IOV)", "param w_IOV    = 0.2",
				"let OCC = interp(D.time, D.OCC, t, kind = next)",
			},
		},
		{
			what: "errors", code: "IPRED = F\nW = SQRT(THETA(3)**2 + (THETA(4)*IPRED)**2)\nIRES = DV - " +
				"IPRED\nIWRES = IRES/W\nY = IPRED + W*EPS(1)",
			rest: "$THETA (0, 2) (0, 20) (0, 0.1) (0, 0.2)\n$OMEGA 0.09\n$SIGMA 1 FIX\n", want: []string{
				"observe y = F ~ normal(W) from D.DV", "let W  = sqrt(theta_W^2 + (theta_W_2*F)^2)",
			}, not: []string{"IRES", "sd_"},
		},
		{what: "two errors", code: "Y = F*(1 + EPS(1)) + EPS(2)", rest: "$THETA (0, 2) (0, 20)\n$OMEGA " +
			"0.09\n$SIGMA 0.01 4\n", want: []string{
			"normal(sqrt((F*sd_prop)^2 + sd_add^2))", "param sd_prop  = 0.1", "param sd_add   = 2",
		}},
		{
			what: "errors that correlate", code: "Y = F*(1 + EPS(1)) + EPS(2)",
			rest: "$THETA (0, 2) (0, 20)\n$OMEGA 0.09\n$SIGMA BLOCK(2) 0.01 0.005 4\n", want: []string{
				"param Sigma[2,2] = [[0.01, 0.005], [0.005, 4]]",
				"normal(sqrt(F*F*Sigma[1,1] + 2*(F*Sigma[2,1]) + Sigma[2,2]))",
			},
		},
		{what: "logarithms", code: "IPRED = -5\nIF (F.GT.0) IPRED = LOG(F)\nY = IPRED + EPS(1)", want: []string{
			"let IPRED = if F > 0 then log(F) else -5", "observe y = IPRED ~ normal(sd_add)",
		}},
		{what: "an exponential error", code: "Y = F*EXP(EPS(1))", want: []string{"observe y = F ~ normal(F*sd_prop)"}},
		{
			what: "limits", code: "LOQ = 4\nIF (DV.GE.LOQ) THEN\nF_FLAG=0\nY = F + " +
				"EPS(1)*THETA(3)\nELSE\nF_FLAG=1\nY = PHI((LOQ-F)/THETA(3))\nENDIF",
			rest: "$THETA (0, 2) (0, 20) (0, 1)\n$OMEGA 0.09\n$SIGMA 1 FIX\n$EST METHOD=1 LAPLACE", want: []string{
				"observe y2 = F ~ normal(theta_Y, below = 4) from D.DV where D.KIND == 2", "marginal = laplace",
			},
		},
		{
			what: "records of doses", pk: "CL = THETA(1)\nV=THETA(2)\nKA=ETA(1)+1\nS2=V\nALAG1=0.5\nF1=0.8*WT/70",
			want: []string{
				"lag = 0.5  f = F1", "let F1 = 0.8*WT/70",
			},
		},
		{what: "fixed and bounded", rest: "$THETA 2 FIX (-INF, 20, 1000000)\n$OMEGA 0 FIX\n$SIGMA (1 FIX)\n$EST " +
			"METHOD=0", want: []string{
			"const CL = 2", "param V = 20  in [-inf, inf]", "normal(1)",
		}, not: []string{"random", "marginal"}},
		{
			what: "a matrix", pk: "CL = THETA(1)*EXP(ETA(1))\nV = THETA(2)*EXP(ETA(2))\nKA=1\nS2=V",
			rest: "$THETA (0, 2) (0, 20)\n$OMEGA BLOCK(2) CORRELATION STANDARD 0.3 0.5 0.2\n$SIGMA 1\n" +
				"$EST METHOD=SAEM\n$EST METHOD=IMP", want: []string{
				"= 0.5  in [-1, 1]", "let Omega = [[w_CL^2, cor_CL_V*w_CL*w_V], [cor_CL_V*w_CL*w_V, w_V^2]]",
				"~ mvnormal(Omega)", "let eta_V  = etas[2]",
				"marginal = imp(n = 1000, seed = 1)", "fit    { algorithm = saem }",
			},
		},
		{
			what: "a matrix by two values", pk: "CL = THETA(1)*EXP(ETA(1))\nV = THETA(2)*EXP(ETA(2))\nKA=1\nS2=V",
			rest: "$THETA (0, 2) (0, 20)\n$OMEGA BLOCK(2) VALUES(0.09, 0.0225)\n$SIGMA 1\n",
			want: []string{"param w_CL     = 0.3 ", "param w_V      = 0.3 ", "param cor_CL_V = 0.25 "},
		},
		{
			what: "SAEM, and the objective at its end", rest: usual +
				"$EST METHOD=ITS INTER NITER=5\n$EST METHOD=SAEM NBURN=300\n" +
				"$EST METHOD=IMP EONLY=1 ISAMPLE=3000 SEED=7\n",
			want: []string{"marginal = imp(n = 3000, seed = 7)", "fit    { algorithm = saem }"},
		},
		{
			what: "an objective at the end of another method", rest: usual + "$EST METHOD=1\n$EST METHOD=IMP EONLY=1\n",
			want: []string{"marginal = foce }"}, not: []string{"imp", "algorithm"},
		},
		{
			what: "SAEM before another method", rest: usual +
				"$EST METHOD=SAEM\n$EST METHOD=1 LAPLACE\n$EST METHOD=BAYES\n",
			want: []string{"marginal = laplace }"}, not: []string{"imp", "algorithm"},
		},
	} {
		out, list := translate(run(c.pk, c.code, c.rest), beside(rows))
		if out == nil {
			t.Errorf("%s: %v", c.what, list.Err())
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(out.Text(), want) {
				t.Errorf("%s: no %q in\n%s", c.what, want, out.Text())
			}
		}
		for _, not := range c.not {
			if strings.Contains(out.Text(), not) {
				t.Errorf("%s: %q in\n%s", c.what, not, out.Text())
			}
		}
		m, err := odes.Parse("run.ode", out.Text(), odes.ParseOptions{Files: beside(rows)})
		if err != nil {
			t.Errorf("%s: %v, of\n%s", c.what, err, out.Text())
			continue
		}
		if s, err := m.FitSettings(odes.Options{}); err != nil || len(s.Over) != strings.Count(out.Text(), "  in [") {
			t.Errorf("%s: %v is searched for, %v, of\n%s", c.what, s.Over, err, out.Text())
		}
	}
}

// TestRefused: what has no translation is named, where it stands, with what to do.
func TestRefused(t *testing.T) {
	usual := run("", "", "")
	change := func(from, to string) string { return strings.Replace(usual, from, to, 1) }
	for text, want := range map[string]string{
		change("$PK", "$MIX\n$PK"):                             "run.ctl:5:1: mixtures of populations",
		change("$PK", "$PRIOR NWPRI\n$PK"):                     "priors of NONMEM ($PRIOR) are not read",
		change("$PK", "$NOTHING\n$PK"):                         "$NOTHING is no record",
		change("ADVAN2 TRANS2", "ADVAN9"):                      "ADVAN9, with algebraic equations",
		change("ADVAN2 TRANS2", "ADVAN2 TRANS4"):               "ADVAN2 TRANS4 is not read",
		change("ADVAN2 TRANS2", "ADVAN6"):                      "ADVAN6 needs $DES",
		change("KA = 1\n", ""):                                 "ADVAN2 TRANS2 needs KA, which $PK does not set",
		change("KA = 1", "KA = 1 +"):                           "run.ctl:8:9: the end of the line stands where",
		change("KA = 1", "KA = THETA(9)"):                      "run.ctl:8:6: there is no THETA(…) of this number",
		change("KA = 1", "KA = FOO(1)"):                        "run.ctl:8:6: FOO(…) is not read",
		change("KA = 1", "KA = BAR"):                           "run.ctl:8:6: BAR is not defined before this",
		change("KA = 1", "KA = A(1)"):                          "$PK reads amounts",
		change("KA = 1", "\"  X = 1\nKA = 1"):                  "verbatim code",
		change("KA = 1", "DO WHILE (X<2)\nKA = 1"):             "loops (DO WHILE) are not read",
		change("KA = 1", "IF (WT.GT.65) KA = 1"):               "KA has no value where no condition holds",
		change("KA = 1", "IF (WT.GT.65) THEN\nKA = 1"):         "this IF has no ENDIF",
		change("KA = 1", "KA = 1\nENDIF"):                      "ENDIF without IF before it",
		change("KA = 1", "KA = 1\nMTIME(1) = 2"):               "MTIME",
		change("KA = 1", "IF (AMT.GT.0) DOSE = AMT\nKA=DOSE"):  "DOSE has no value where no condition holds",
		change("Y = F + EPS(1)", "Y = F"):                      "Y has no residual error (EPS)",
		change("Y = F + EPS(1)", "Z = F"):                      "the code does not set Y",
		change("Y = F + EPS(1)", "Y = F + SIN(EPS(1))"):        "Y depends on EPS in another way",
		change("Y = F + EPS(1)", "F_FLAG = 1\nY = F + EPS(1)"): "only that of a value below a limit is read",
		change("Y = F + EPS(1)", "F_FLAG = 2\nY = F"):          "Y is a likelihood there",
		change("Y = F + EPS(1)", "Y = F + DV + EPS(1)"):        "a formula reads DV",
		change("METHOD=1", "METHOD=1 LIKE"):                    "Y is a likelihood there",
		change("METHOD=1", "METHOD=NEW"):                       "METHOD=NEW is not read",
		change("METHOD=1", "METHOD=HYBRID ZERO=1"):             "METHOD=HYBRID is not read",
		change("METHOD=1", "METHOD=1 CENTERING"):               "CENTERING changes the objective",
		change("METHOD=1", "METHOD=IMP ISAMPLE=many"):          "ISAMPLE is a whole number",
		change("rows.csv", "other.csv"):                        "other.csv",
		change("rows.csv", "../../../etc/passwd"):              "run.ctl:3:7: ",
		change("IGNORE=@", ""):                                 `"ID" in the column ID is no number`,
		change("IGNORE=@", "IGNORE=(FOO.EQ.1)"):                "FOO, by which rows are chosen",
		change("IGNORE=@", "IGNORE=@ ACCEPT=(ID.GT.7)"):        "rows.csv has no rows that are not left out",
		change("(0, 2)", "(3, 2)"):                             "outside of its bounds",
		change("(0, 2)", "(0, two)"):                           `"two" is no value of a THETA`,
		change("$OMEGA 0.09", "$OMEGA BLOCK(2) 1 2 1"):         "not positive definite",
		change("$OMEGA 0.09", "$OMEGA BLOCK(2) 1 2"):           "BLOCK(2) has 3 numbers",
		change("$OMEGA 0.09", "$OMEGA BLOCK(2) VALUES(1)"):     "VALUES has two numbers",
		change("$OMEGA 0.09", "$OMEGA -1"):                     "a variance is negative",
		change("$OMEGA 0.09", "$OMEGA FIX DIAGONAL(1) 1"):      "FIX stands before the numbers of $OMEGA",
		change("$OMEGA 0.09", "$OMEGA SAME BLOCK(1)"):          `"SAME" is not read in $OMEGA`,
		change(" AGE", " L2"):                                  "L2 makes residual errors of several rows correlate",
		change(" DV ", " CONC "):                               "no column of $INPUT is DV",
		change("$INPUT ID", "$INPUT DROP"):                     "no column is ID",
	} {
		if text == usual {
			t.Errorf("nothing was changed for %q", want)
		}
		out, list := translate(text, beside(rows))
		if out != nil || list.Err() == nil || !strings.Contains(list.Err().Error(), want) {
			t.Errorf("%v, want %q", list.Err(), want)
		}
	}
}

// TestTables: rows are left out as NONMEM does it, times and numbers that odes would take otherwise are written out.
func TestTables(t *testing.T) {
	for _, c := range []struct{ what, data, input, table, want, not string }{
		{
			"a file without a heading", "IGNORE=C", "ID TIME DV AMT", "1 0 . 100\n1 1 5 0\nC 1 2 " +
				"3\n2,0,.,50\n2,2,3,0\n",
			"ID = [1, 1, 2, 2]", "csv",
		},
		{
			"a heading that is a comment for odes", "IGNORE=#", "ID TIME DV AMT",
			"#ID,TIME,DV,AMT\n1,0,.,100\n1,1,5,0\n", "ID = [1, 1]", "csv",
		},
		{
			"a letter without =", "IGNORE C", "ID TIME DV AMT", "1 0 . 100\nC 1 2 3\n1 1 5 0\n",
			"ID = [1, 1]", "csv",
		},
		{
			"a comment at the letter", "IGNORE=C; heads", "ID TIME DV AMT", "1 0 . 100\nC 1 2 3\n1 1 5 0\n",
			"ID = [1, 1]", "csv",
		},
		{
			"rows that are left out", "IGNORE=@ IGNORE=(ID.EQ.2,DV.GT.7)", "ID TIME DV AMT",
			"ID,TIME,DV,AMT\n1,0,.,100\n1,1,5,0\n1,2,8,0\n2,0,.,50\n2,2,3,0\n", "time = [0, 1]", "csv",
		},
		{
			"rows that are kept", "IGNORE=@ ACCEPT (ID.EQ.2)", "ID TIME DV AMT",
			"ID,TIME,DV,AMT\n1,0,.,100\n1,1,5,0\n2,0,.,50\n2,2,3,0\n", "AMT = [50, 0]", "csv",
		},
		{
			"other names", "IGNORE=@", "ID TIME DV=CONC AMT=DOSE", "ID,HOURS,CP,MG\n1,0,.,100\n1,1,5,0\n",
			`csv("rows.csv", time = "HOURS", DV = "CP", AMT = "MG")`, "",
		},
		{
			"a column that odes would read", "IGNORE=@", "ID TIME DV AMT RATE=DROP",
			"ID,TIME,DV,AMT,RATE\n1,0,.,100,50\n1,1,5,0,0\n", "AMT = [100, 0]", "RATE",
		},
		{
			"hours and minutes", "IGNORE=@", "ID TIME DV AMT", "ID,TIME,DV,AMT\n1,8:00,.,100\n1,9:30,5,0\n",
			"time = [0, 1.5]", "csv",
		},
		{
			"times that begin anew", "IGNORE=@", "ID TIME DV AMT EVID",
			"ID,TIME,DV,AMT,EVID\n1,0,.,100,1\n1,3,5,0,0\n1,0,.,50,4\n1,2,5,0,0\n", "time = [0, 3, 4, 6]", "csv",
		},
		{"tabs", "IGNORE=@", "ID TIME DV AMT", "ID\tTIME\tDV\tAMT\n1\t0\t.\t100\n1\t1\t5\t0\n", "DV = [nan, 5]", "csv"},
	} {
		text := "$PROBLEM t\n$INPUT " + c.input + "\n$DATA 'rows.csv' " + c.data + "\n$SUBROUTINES ADVAN1\n" +
			"$PK\nK = THETA(1)*EXP(ETA(1))\n$ERROR\nY = F + EPS(1)\n$THETA 1\n$OMEGA 1\n$SIGMA 1\n"
		out, list := translate(text, beside(c.table))
		switch {
		case out == nil:
			t.Errorf("%s: %v", c.what, list.Err())
			continue
		case !strings.Contains(spaced().ReplaceAllString(out.Text(), " "), c.want), c.not != "" &&
			strings.Contains(out.Text(), c.not):
			t.Errorf("%s: want %q and not %q in\n%s", c.what, c.want, c.not, out.Text())
		}
		if _, err := odes.Parse("run.ode", out.Text(), odes.ParseOptions{Files: beside(c.table)}); err != nil {
			t.Errorf("%s: %v, of\n%s", c.what, err, out.Text())
		}
	}
}

func spaced() *regexp.Regexp { return regexp.MustCompile(` +`) }

// TestPred: a model without compartments is one of the time, or of the rows where times are equal.
func TestPred(t *testing.T) {
	head := "$PROBLEM t\n$INPUT ID TIME DV DOSE\n$DATA rows.csv IGNORE=@\n$PRED\n"
	tail := "\n$THETA 3 0.5\n$OMEGA 0.04\n$SIGMA 0.25\n$EST METHOD=1"
	table := "ID,TIME,DV,DOSE\n1,1,2,10\n1,2,3,20\n2,1,4,10\n2,2,5,30\n"
	linear := head + "Y = THETA(1) + ETA(1) + THETA(2)*DOSE/10*TIME + EPS(1)" + tail
	// One effect that adds up: OFV = r' C⁻¹ r + log det C, with C = 0.25 I + 0.04.
	want := 0.0
	for _, r := range [][2]float64{{-1.5, -2}, {0.5, -1}} {
		a, b := 0.29, 0.04
		det := a*a - b*b
		want += (a*r[0]*r[0]-2*b*r[0]*r[1]+a*r[1]*r[1])/det + math.Log(det)
	}
	for _, times := range []string{table, strings.NewReplacer("1,2,3", "1,1,3").Replace(table)} {
		text := linear
		if times != table { // the second row has the time of the first, and a dose that makes up for it
			times = strings.Replace(times, "1,1,3,20", "1,1,3,40", 1)
		}
		if got := objective(t, "run.ctl", text, beside(times)); math.Abs(got-want) > 1e-6 {
			t.Errorf("the objective is %v, want %v", got, want)
		}
	}
}

// TestOccasions: a subject whose times begin anew has the same effects on both occasions.
func TestOccasions(t *testing.T) {
	text := "$PROBLEM t\n$INPUT ID TIME DV AMT EVID\n$DATA rows.csv IGNORE=@\n$SUBROUTINES ADVAN1\n$PK\n" +
		"K = THETA(1)\nS1 = EXP(-ETA(1))\n$ERROR\nY = F + EPS(1)\n$THETA (0, 0.5)\n$OMEGA 0.04\n$SIGMA 0.25\n$EST " +
		"METHOD=0"
	table := "ID,TIME,DV,AMT,EVID\n1,0,.,10,1\n1,1,7,0,0\n1,0,.,20,4\n1,2,6,0,0\n"
	// By the first-order method: f = A exp(η), so that C = 0.25 I + 0.04 f f'.
	f := []float64{10 * math.Exp(-0.5), 20 * math.Exp(-1)}
	r := []float64{7 - f[0], 6 - f[1]}
	a, b, d := 0.25+0.04*f[0]*f[0], 0.04*f[0]*f[1], 0.25+0.04*f[1]*f[1]
	det := a*d - b*b
	want := (d*r[0]*r[0]-2*b*r[0]*r[1]+a*r[1]*r[1])/det + math.Log(det)
	if got := objective(t, "run.ctl", text, beside(table)); math.Abs(got-want) > 1e-6 {
		t.Errorf("the objective is %v, want %v", got, want)
	}
}

// TestIs tells control streams from other files with dollars.
func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		"$PROBLEM x\n$INPUT ID\n":        true,
		"; a comment\n  $prob\n$THE 1\n": true,
		"$PROB x\n$PARAM CL = 1\n":       false,
		"model m\n":                      false,
		"":                               false,
	} {
		if nonmem.Is(text) != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
}

// TestMangled: of control streams and tables with parts that are lost, doubled and exchanged, each becomes a model that
// parses, or an error.
func TestMangled(t *testing.T) {
	first := seeds.Of(t, 0)
	pieces := regexp.MustCompile(`\w+|[^\w]`)
	files := folder(t, "testdata")
	texts := []string{run("", "", "")}
	for _, name := range []string{"p_blq", "p_idr", "p_iov", "theo_sd_add", "bauer402"} {
		texts = append(texts, string(files[name+".ctl"].Data))
	}
	translated := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(first+seed, 1))
		text := mangle.Mangle(r, pieces.FindAllString(texts[seed%uint64(len(texts))], -1), nil)
		table := rows
		if seed%3 == 0 {
			table = mangle.Mangle(r, pieces.FindAllString(rows, -1), nil)
		}
		with := folder2(files, table)
		if sound(t, text, with) {
			translated++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if translated < 50 {
		t.Errorf("only %d of them were models", translated)
	}
}

func folder2(files fstest.MapFS, table string) fstest.MapFS {
	with := beside(table)
	for name, f := range files {
		with[name] = f
	}
	return with
}

// sound fails where a text becomes neither a model that parses, nor an error. It reports whether it is a model.
func sound(t *testing.T, text string, files fstest.MapFS) bool {
	out, list := translate(text, files)
	model, wrong := "", ""
	if out != nil {
		model = out.Text()
	}
	if err := list.Err(); err != nil {
		wrong = err.Error()
	}
	mangle.Sound(t, text, model, wrong)
	return out != nil
}

// FuzzTranslate: whatever a control stream and its table hold, they become a model that parses, or an error.
func FuzzTranslate(f *testing.F) {
	f.Add(run("", "", ""), rows)
	for name, file := range folder(f, "testdata") {
		if strings.HasSuffix(name, ".ctl") {
			text := string(file.Data)
			table := name[:len(name)-len(".ctl")] + ".csv"
			f.Add(strings.Replace(text, table, "rows.csv", 1), rows)
		}
	}
	f.Fuzz(func(t *testing.T, text, table string) { sound(t, text, beside(table)) })
}

// TestOccasionsApart: in a model as it is written, occasions whose clocks start anew would have effects of their own.
func TestOccasionsApart(t *testing.T) {
	text := "model M\ntime t from 0 to 4\nparam w = 1\nrandom e ~ normal(0, w)\nstate A = 0\nA' = -exp(e)*A\n" +
		"data D { ID = [1, 1, 1, 1]  time = [0, 1, 0, 1]  AMT = [9, 0, 9, 0]  EVID = [1, 0, 4, 0]  DV = [nan, 3, " +
		"nan, 3] }\n" +
		"doses D { A }\nobserve y = A ~ normal(1) from D.DV\nexperiment subject from D by D.ID\nobjective L = nll()\n"
	_, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err == nil || !strings.Contains(err.Error(), "random effects of its own") {
		t.Errorf("%v", err)
	}
	if _, err := odes.Parse("m.ode", strings.Replace(text, "[0, 1, 0, 1]", "[0, 1, 2, 3]", 1),
		odes.ParseOptions{}); err != nil {
		t.Error(err)
	}
}
