package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var axe = flag.String("axe", "", "axe.min.js of the npm package axe-core, which judges how accessible pages are")

// part returns the selector of a part of the playground.
func part(name string) string { return `#playground [data-part="` + name + `"]` }

// wait waits until an expression is true.
func (b *browser) wait(what, expression string) {
	b.t.Helper()
	for range 1200 {
		if value[bool](b, "Boolean("+expression+")") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	status := value[string](b, `document.querySelector('[data-part="status"]')?.textContent + " | " +
		document.querySelector('[data-part="findings"]')?.textContent`)
	b.t.Fatalf("waited in vain until %s: %s", what, status)
}

// settle waits until what the page shows was compared with an independent run, which it does once nothing moves.
func (b *browser) settle() {
	b.t.Helper()
	b.wait("results are compared", `document.getElementById("playground")?.dataset.state == "compared"`)
}

// moving runs what changes something, and waits until the page shows it.
func (b *browser) moving(change func()) {
	b.t.Helper()
	value[chromedp.Void](b, `document.getElementById("playground").dataset.state = "asked"`)
	change()
	b.wait("a change is shown", `document.getElementById("playground").dataset.state != "asked"`)
}

// keys sends keys to an element.
func (b *browser) keys(selector, keys string) {
	b.t.Helper()
	do(b, chromedp.Focus(chromedp.CSS(selector)))
	do(b, chromedp.KeyEvent(keys))
}

// write replaces the text of the model as typing does.
func (b *browser) write(text string) {
	b.t.Helper()
	value[chromedp.Void](b, `(() => { const e = document.querySelector('[data-part="editor"]')
		e.value = `+strconv.Quote(text)+`; e.dispatchEvent(new Event("input")) })()`)
}

func (b *browser) text(selector string) string {
	b.t.Helper()
	return value[string](b, `document.querySelector(`+strconv.Quote(selector)+`)?.textContent ?? ""`)
}

const decay = "model Decay\ntime t : [h] from 0 to 10\nparam k = 0.5 [1/h] in [0.1, 2]\nstate A = 8 [mg]\n" +
	"A' = -k*A\nobjective J = final(A)\n"

// A scenario is what a visitor of the playground does, and what is to be seen then.
type scenario struct {
	name string
	do   func(t *testing.T, b *browser)
}

var scenarios = []scenario{
	{"a slider moves objective, gradient and picture", func(t *testing.T, b *browser) {
		before, row, path := b.text(part("objectives")), b.text(part("rows")), value[string](b, line)
		b.moving(func() { b.keys(`.slider input[type="range"]`, strings.Repeat(kb.ArrowRight, 5)) })
		b.settle()
		if b.text(part("objectives")) == before || b.text(part("rows")) == row || value[string](b, line) == path {
			t.Error("something did not move")
		}
		if command := b.text(part("command")); !strings.Contains(command, "--set 'a=") {
			t.Errorf("the command line is %q", command)
		}
	}},
	{"sliders redraw ten times a second", func(t *testing.T, b *browser) {
		count := value[float64](b, `+document.getElementById("playground").dataset.runs`)
		from := time.Now()
		for time.Since(from) < 2*time.Second {
			value[chromedp.Void](b, `(() => { const e = document.querySelector('.slider input[type="range"]')
				e.value = 300 + Math.random()*300; e.dispatchEvent(new Event("input")) })()`)
			time.Sleep(20 * time.Millisecond)
		}
		count = value[float64](b, `+document.getElementById("playground").dataset.runs`) - count
		t.Logf("%.1f redraws a second", count/2)
		if count < 4 { // a machine that does other things besides
			t.Errorf("only %v redraws in two seconds", count)
		}
		b.settle()
	}},
	{"values go back", func(t *testing.T, b *browser) {
		b.moving(func() { b.press(part("reset")) })
		if command := b.text(part("command")); command != "odes sens model.ode" {
			t.Errorf("the command line is %q", command)
		}
	}},
	{"a value is typed", func(t *testing.T, b *browser) {
		b.write(decay)
		b.wait("the model is there", `document.querySelectorAll(".slider").length == 1`)
		b.settle()
		b.moving(func() {
			value[chromedp.Void](b, `document.querySelector('.slider input[type="text"]').value = ""`)
			b.keys(`.slider input[type="text"]`, "0.25"+kb.Enter)
		})
		b.settle()
		// 8*exp(-0.25*10), and its derivative by k
		if values := b.text(part("objectives")); !strings.Contains(values, "0.65668") {
			t.Errorf("the objective is %q", values)
		}
		if row := b.text(part("rows")); !strings.Contains(row, "-6.5668") {
			t.Errorf("the gradient is %q", row)
		}
	}},
	{"a value that is none", func(t *testing.T, b *browser) {
		b.keys(`.slider input[type="text"]`, "x"+kb.Enter)
		b.wait("it is marked", `document.querySelector('.slider input[type="text"]').ariaInvalid == "true"`)
		if values := b.text(part("objectives")); !strings.Contains(values, "0.65668") {
			t.Errorf("the objective is %q", values)
		}
	}},
	{"an error, its place, and a fix", func(t *testing.T, b *browser) {
		b.write(strings.Replace(decay, "A' = -k*A", "dA/dt = -k*A", 1))
		b.wait("the error is told", `document.querySelector(".finding-error")`)
		if text := b.text(".finding-error"); !strings.Contains(text, "line 5") {
			t.Errorf("it says %q", text)
		}
		b.press(`.finding-error button.plain`)
		if at := value[string](b, `(() => { const e = document.querySelector('[data-part="editor"]')
			return e.value.slice(e.selectionStart, e.selectionEnd) })()`); at != "dA/dt" {
			t.Errorf("the place is %q", at)
		}
		b.moving(func() { b.press(`.finding-error .fix`) })
		b.settle()
		if text := value[string](b, `document.querySelector('[data-part="editor"]').value`); text != decay {
			t.Errorf("the model is %q", text)
		}
	}},
	{"places behind letters beyond ASCII", func(t *testing.T, b *browser) {
		b.write("## 𝛼 größer\n" + strings.Replace(decay, "-k*A", "-κ*A", 1))
		b.wait("the error is told", `document.querySelector(".finding-error button.plain")`)
		b.press(`.finding-error button.plain`)
		if at := value[string](b, `(() => { const e = document.querySelector('[data-part="editor"]')
			return e.value.slice(e.selectionStart, e.selectionEnd) })()`); at != "κ" {
			t.Errorf("the place is %q", at)
		}
	}},
	{"a run that fails", func(t *testing.T, b *browser) {
		b.write("model F\ntime t from 0 to 10\nparam k = 1\nstate x = 1\nx' = k*x^2\nobjective J = final(x)\n")
		b.wait("the failure is told", `document.querySelector(".finding-error")`)
		b.write(decay)
		b.settle()
	}},
	{"a model without objective", func(t *testing.T, b *browser) {
		b.write(strings.Split(decay, "objective")[0])
		b.wait("it says so", `!document.querySelector('[data-part="gradient-none"]').hidden`)
	}},
	{"empty text", func(t *testing.T, b *browser) {
		b.write("")
		b.wait("it says so", `document.querySelector(".finding")`)
	}},
	{"an example with its data", func(t *testing.T, b *browser) {
		choose(b, "examples", "examples/signalling/signalling.ode")
		b.wait("data are drawn", `document.querySelector(".chart circle.chart-point")`)
		if files := b.text(part("files")); !strings.Contains(files, ".csv") {
			t.Errorf("the files are %q", files)
		}
	}},
	{"a link holds model and values", func(t *testing.T, b *browser) {
		b.write(decay)
		b.wait("the model is there", `document.querySelectorAll(".slider").length == 1`)
		b.settle()
		b.moving(func() { b.keys(`.slider input[type="range"]`, strings.Repeat(kb.ArrowLeft, 9)) })
		b.settle()
		values := b.text(part("objectives"))
		b.press(part("link"))
		b.wait("the address has the model", `location.hash.startsWith("#m=")`)
		do(b, chromedp.Reload())
		b.wait("the page is back", `document.getElementById("playground")?.dataset.state == "compared"`)
		if again := b.text(part("objectives")); again != values {
			t.Errorf("%q, and by the link %q", values, again)
		}
	}},
	{"a link that holds nothing", func(t *testing.T, b *browser) {
		value[chromedp.Void](b, `location.hash = "m=nonsense"`)
		b.wait("it says so", `document.querySelector('[data-part="status"]').textContent.includes("no model")`)
	}},
	{"a link to a file outside", func(t *testing.T, b *browser) {
		value[chromedp.Void](b, `location.hash = "e=" + encodeURIComponent("https://example.org/x.ode")`)
		b.wait("it says so", `document.querySelector('[data-part="status"]').textContent.includes("outside of this")`)
	}},
	{"phase plane", func(t *testing.T, b *browser) {
		choose(b, "examples", "examples/lotka_volterra/lotka_volterra.ode")
		b.wait("the model is there", `document.querySelectorAll(".slider").length > 3`)
		b.settle()
		choose(b, "across", "x")
		b.wait("the axis is x", `document.querySelector(".chart-grid").textContent.includes("x")`)
		choose(b, "across", "")
	}},
	{"a legend hides a curve", func(t *testing.T, b *browser) {
		before := value[int](b, `document.querySelectorAll(".chart-line").length`)
		b.press(".chart-name")
		if now := value[int](b, `document.querySelectorAll(".chart-line").length`); now != before-1 {
			t.Errorf("%d curves of %d", now, before)
		}
		b.press(".chart-name")
	}},
	{"a logarithmic axis", func(t *testing.T, b *browser) {
		before := value[string](b, line)
		b.press(part("logy"))
		b.wait("the curve is another", line+" != "+strconv.Quote(before))
		b.press(part("logy"))
	}},
	{"zoom and values by keyboard", func(t *testing.T, b *browser) {
		before := value[string](b, line)
		b.keys(".chart svg", "+")
		if value[string](b, line) == before {
			t.Error("no zoom")
		}
		b.keys(".chart svg", kb.Escape)
		if value[string](b, line) != before {
			t.Error("not all is shown again")
		}
		b.keys(".chart svg", kb.ArrowRight+kb.ArrowRight)
		if told := b.text(".chart-told"); !strings.Contains(told, "x ") {
			t.Errorf("the values are %q", told)
		}
	}},
	{"pointing tells values", func(t *testing.T, b *browser) {
		do(b, chromedp.ScrollIntoView(chromedp.CSS(".chart svg")))
		at := value[[]float64](b, `(() => { const r = document.querySelector(".chart svg").getBoundingClientRect()
			return [r.left + r.width/2, r.top + r.height/2] })()`)
		do(b, chromedp.MouseEvent("mouseMoved", at[0], at[1]))
		b.wait("values are told", `document.querySelector(".chart-told").textContent.includes("y ")`)
	}},
	{"a file is added", func(t *testing.T, b *browser) {
		b.visit("/playground.html?again")
		b.settle()
		file := filepath.Join(t.TempDir(), "d.csv")
		if err := os.WriteFile(file, []byte("time [h],A [mg]\n1,5\n2,3\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		b.write(strings.Replace(decay, "objective J = final(A)", "data D = csv(\"d.csv\", "+
			"time = \"time [h]\", A = \"A [mg]\")\n"+
			"observe seen = A ~ normal(0.1 [mg]) from D.A\nobjective J = nll()", 1))
		b.wait("the file is missed", `document.querySelector(".finding-error")`)
		do(b, chromedp.SetUploadFiles(chromedp.CSS(part("data")), []string{file}))
		b.settle()
		if n := value[int](b, `document.querySelectorAll(".chart circle.chart-point").length`); n != 2 {
			t.Errorf("%d points", n)
		}
	}},
	{"an experiment", func(t *testing.T, b *browser) {
		b.write(decay + "experiment low { k = 0.1 [1/h] }\nexperiment high { k = 1 [1/h] }\n")
		b.wait("they are listed", `document.querySelectorAll('[data-part="experiment"] option').length == 3`)
		before := value[string](b, line)
		choose(b, "experiment", "high")
		b.wait("the curve is another", line+" != "+strconv.Quote(before))
	}},
	{"what takes too long is stopped", func(t *testing.T, b *browser) {
		b.write("model Long\ntime t from 0 to 1e7\nparam k = 1\nstate x = 1, y = 0\nx' = k*y\ny' = -k*x\n" +
			"objective J = final(x)\nsolver { max_steps = 1000000000 }\n")
		b.wait("one can stop it", `!document.querySelector('[data-part="stop"]').hidden`)
		b.press(part("stop"))
		b.write(decay)
		b.wait("the model is there", `document.querySelectorAll(".slider").length == 1`)
		b.settle()
	}},
}

// line is the first curve of the first picture.
const line = `(document.querySelector(".chart-line")?.getAttribute("d") ?? "")`

func choose(b *browser, name, option string) {
	b.t.Helper()
	value[chromedp.Void](b, fmt.Sprintf(`(() => { const e = document.querySelector('[data-part="%s"]')
		e.value = %q; e.dispatchEvent(new Event("change")) })()`, name, option))
}

// TestBrowserPlayground does what visitors of the playground do.
func TestBrowserPlayground(t *testing.T) {
	b := open(t)
	from := time.Now()
	b.visit("/playground.html")
	b.wait("the first result is there", `document.querySelector(".chart-line")`)
	t.Logf("the first result after %v", time.Since(from).Round(10*time.Millisecond))
	b.settle()
	b.shot("playground")
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			b.t = t
			s.do(t, b)
		})
	}
	b.t = t
}

// TestBrowserPlaygroundLinks: models of documents and examples open in the playground.
func TestBrowserPlaygroundLinks(t *testing.T) {
	b := open(t)
	for _, page := range []string{
		"/docs/how/dose-response.html", "/docs/tutorial.html", "/examples/bounce/index.html",
	} {
		b.visit(page)
		b.wait("there is a link", `document.querySelector("a.open-in-playground")`)
		b.press("a.open-in-playground")
		b.wait("the playground opens", `location.pathname == "/playground.html"`)
		b.wait("the model is shown", `document.querySelector(".chart-line")`)
	}
}

// TestBrowserPlaygroundPhone: nothing is wider than a phone, and what one touches is large enough.
func TestBrowserPlaygroundPhone(t *testing.T) {
	b := open(t)
	do(b, chromedp.EmulateViewport(360, 640,
		chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait))
	b.visit("/playground.html")
	b.settle()
	if wide := value[int](b, `document.documentElement.scrollWidth`); wide > 360 {
		t.Errorf("the page is %d wide: %q", wide, value[[]string](b, tooWide))
	}
	small := value[[]string](b, `[...document.querySelectorAll("#playground :is(button, select, input, label.file)")]
		.filter(e => e.checkVisibility() && !e.matches(".plain, [type=checkbox]"))
		.filter(e => e.getBoundingClientRect().height < 44)
		.map(e => e.outerHTML.slice(0, 90))`)
	if len(small) > 0 {
		t.Errorf("too small to touch: %q", small)
	}
	b.shot("playground_phone")
	do(b, chromedp.ScrollIntoView(chromedp.CSS(".chart svg")))
	b.shot("playground_phone_pictures")
}

// TestBrowserAccessible lets axe judge pages in light and dark, on wide screens and on phones.
func TestBrowserAccessible(t *testing.T) {
	if *axe == "" {
		t.Skip("no axe.min.js: -axe names it")
	}
	script, err := os.ReadFile(*axe)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t)
	b.report()
	for _, theme := range []string{"light", "dark"} {
		b.reportAgain()
		value[chromedp.Void](b, `document.documentElement.dataset.theme = "`+theme+`"
			for (const e of document.querySelectorAll("details")) e.open = true`)
		b.judge(string(script), "report, "+theme)
		for _, page := range []string{"/index.html", "/playground.html", "/docs/man/odes-sens.html"} {
			b.visit(page)
			value[chromedp.Void](b, `localStorage.setItem("theme", "`+theme+`")`)
			b.visit(page)
			if page == "/playground.html" {
				b.settle()
				b.shot("playground_" + theme)
			}
			b.judge(string(script), page+", "+theme)
		}
	}
}

// judge lets axe judge the page that is shown: on a wide screen, and on a phone.
func (b *browser) judge(script, what string) {
	b.t.Helper()
	value[chromedp.Void](b, script+"\n;0")
	for _, wide := range []int64{1400, 360} {
		do(b, chromedp.EmulateViewport(wide, 800))
		// The page hears of its new size within the next frame, and axe must look after that.
		list := do(b, chromedp.Evaluate[[]string](`new Promise(next => requestAnimationFrame(() =>
			requestAnimationFrame(next))).then(() => axe.run(document, { resultTypes: ["violations"] })).then(r =>
			r.violations.filter(v => v.impact != "minor")
			.flatMap(v => v.nodes.map(n => v.impact + " " + v.id + ": " + n.html.slice(0, 120))))`,
			chromedp.EvalAwaitPromise))
		for _, v := range list {
			b.t.Errorf("%s, %d px wide: %s", what, wide, v)
		}
	}
	do(b, chromedp.EmulateViewport(1400, 900))
}
