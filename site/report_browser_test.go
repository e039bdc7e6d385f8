package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const reported = "docs/tutorial/fit.ode"

// report writes the page of a fit, as the command does, to where the browser's server finds it, and opens it.
func (b *browser) report() {
	b.t.Helper()
	command := filepath.Join(b.t.TempDir(), "odes")
	for _, arguments := range [][]string{
		{"go", "build", "-o", command, "./cmd/odes"},
		{
			command, "report", reported, "--fit", "--playground", b.root + "/playground.html",
			"-o", filepath.Join(b.made, "report.html"),
		},
	} {
		c := exec.Command(arguments[0], arguments[1:]...)
		c.Dir = ".."
		if said, err := c.CombinedOutput(); err != nil {
			b.t.Fatalf("%s: %v\n%s", c, err, said)
		}
	}
	b.reportAgain()
}

func (b *browser) reportAgain() {
	b.t.Helper()
	do(b, chromedp.Steps(chromedp.Navigate(b.root+"/made/report.html"), chromedp.WaitReady(chromedp.CSS("figure svg"))))
}

// The figures of the report, by what they show.
const (
	course  = `svg.live[aria-label^="Fit: two doses"]`
	heatMap = `svg.live[aria-label^="correlation"]`
	bars    = `svg.live:has(g.bar)`
)

// over returns a place of the first element of a selector that is on the screen: shares of its width and height.
func (b *browser) over(selector string, x, y float64) (float64, float64) {
	b.t.Helper()
	at := b.still(`(() => { const e = document.querySelector(` + strconv.Quote(selector) + `)
		e.scrollIntoView({ block: "center" })
		const r = e.getBoundingClientRect()
		return [r.left, r.top, r.width, r.height] })()`)
	return at[0] + x*at[2], at[1] + y*at[3]
}

// area is the place of the first panel of a figure between its axes, as an element that over finds.
func (b *browser) area(figure string, x, y float64) (float64, float64) {
	b.t.Helper()
	at := b.still(`(() => { const e = document.querySelector(` + strconv.Quote(figure) + `)
		e.scrollIntoView({ block: "center" })
		const [left, top, width, height] = e.querySelector("g.panel").dataset.area.split(" ").map(Number)
		const p = new DOMPoint(left + width*` + strconv.FormatFloat(x, 'g', -1, 64) + `, top + height*` +
		strconv.FormatFloat(y, 'g', -1, 64) + `).matrixTransform(e.getScreenCTM())
		return [p.x, p.y] })()`)
	return at[0], at[1]
}

// still returns places on the screen once they no longer move.
func (b *browser) still(expression string) []float64 {
	b.t.Helper()
	at := value[[]float64](b, expression)
	for range 100 {
		time.Sleep(20 * time.Millisecond)
		was := at
		if at = value[[]float64](b, expression); slices.Equal(at, was) {
			break
		}
	}
	return at
}

func (b *browser) pointAt(x, y float64) { do(b, chromedp.MouseEvent("mouseMoved", x, y)) }

// told is what the page says of the place that one points at; "" for nothing.
func (b *browser) told() string {
	b.t.Helper()
	return value[string](b, `(() => { const e = document.querySelector(".live-told")
		return e && e.checkVisibility() ? e.textContent : "" })()`)
}

// drag presses the button at a place, and lets go at another.
func (b *browser) drag(x0, y0, x1, y1 float64) {
	b.t.Helper()
	b.pointAt(x0, y0)
	do(b, chromedp.MouseEvent("mousePressed", x0, y0, chromedp.ButtonLeft))
	held := func(p *input.DispatchMouseEventParams) { p.Buttons = 1 }
	do(b, chromedp.MouseEvent("mouseMoved", (x0+x1)/2, (y0+y1)/2, chromedp.ButtonLeft, held))
	do(b, chromedp.MouseEvent("mouseMoved", x1, y1, chromedp.ButtonLeft, held))
	do(b, chromedp.MouseEvent("mouseReleased", x1, y1, chromedp.ButtonLeft))
}

// pressed clicks on an element, and waits until an expression is true.
func (b *browser) pressed(selector, expression string) {
	b.t.Helper()
	b.press(selector)
	b.wait("a click on "+selector+" leads to "+expression, expression)
}

// column returns a column of the first table with more than two rows.
func (b *browser) column(k int) []string {
	b.t.Helper()
	return value[[]string](b, `[...document.querySelector("table").tBodies[0].rows].map(r =>
		r.cells[`+strconv.Itoa(k)+`].textContent.trim())`)
}

// zoomedOf, ticksOf and curveOf are what the figure of the course looks like.
const (
	zoomedOf = `document.querySelector('` + course + `').matches(".zoomed")`
	ticksOf  = `[...document.querySelectorAll('` + course + ` g.ticks.x text')].map(e => e.textContent).join(" ")`
	shownOf  = `[...document.querySelectorAll('` + course + ` g.curve')]
		.filter(e => getComputedStyle(e).display != "none").length`
	strokeOf = `getComputedStyle(document.querySelector('` + course + ` g.curve path')).stroke`
	paperOf  = `getComputedStyle(document.body).backgroundColor`
)

var reportScenarios = []scenario{
	{"pointing tells values", func(t *testing.T, b *browser) {
		b.pointAt(b.area(course, 0.51, 0.4))
		told := b.told()
		lines := strings.Split(told, "\n")
		at, ok := strings.CutPrefix(lines[0], "t [h] ")
		x, err := strconv.ParseFloat(at, 64)
		if !ok || err != nil || math.Abs(x-12.2) > 0.5 || len(lines) < 3 {
			t.Errorf("it says %q", told)
		}
		b.shot("report_told")
		b.pointAt(2, 2)
		if told := b.told(); told != "" {
			t.Errorf("elsewhere it says %q", told)
		}
	}},
	{"pointing at a cell and at a bar", func(t *testing.T, b *browser) {
		b.pointAt(b.area(heatMap, 0.1, 0.1))
		if told := b.told(); !strings.Contains(told, "ka, ") || !strings.Contains(told, "\n1") {
			t.Errorf("of the first cell it says %q", told)
		}
		b.pointAt(b.over(bars+" g.bar path", 0.5, 0.5))
		if told := b.told(); !strings.HasPrefix(told, "V -") {
			t.Errorf("of the first bar it says %q", told)
		}
	}},
	{"zoom and all again", func(t *testing.T, b *browser) {
		before, picture := value[string](b, ticksOf), value[string](b, `document.querySelector('`+course+`').innerHTML`)
		x0, y0 := b.area(course, 0.25, 0.2)
		x1, y1 := b.area(course, 0.5, 0.8)
		b.drag(x0, y0, x1, y1)
		if !value[bool](b, zoomedOf) || value[string](b, ticksOf) == before {
			t.Fatalf("no zoom: the axis has %s", value[string](b, ticksOf))
		}
		b.shot("report_zoom")
		if chosen := value[string](b, `String(getSelection())`); chosen != "" {
			t.Errorf("text is selected: %q", chosen)
		}
		b.pointAt(b.area(course, 0.5, 0.5)) // at 3/8 of what the axis shows
		at, _, _ := strings.Cut(strings.TrimPrefix(b.told(), "t [h] "), "\n")
		if x, err := strconv.ParseFloat(at, 64); err != nil || math.Abs(x-9) > 0.3 {
			t.Errorf("in the middle of the part it says %q", b.told())
		}
		x, y := b.area(course, 0.5, 0.5)
		do(b, chromedp.MouseClickXY(x, y, chromedp.ClickCount(1)))
		do(b, chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
		if value[bool](b, zoomedOf) || value[string](b, ticksOf) != before {
			t.Errorf("not all is shown again: %s", value[string](b, ticksOf))
		}
		b.pointAt(2, 2)
		if lost := len(picture) - len(value[string](b, `document.querySelector('`+course+`').innerHTML`)); lost > 0 {
			t.Errorf("the picture is %d bytes smaller than before", lost)
		}
		if value[bool](b, `Boolean(document.querySelector('`+course+` [vector-effect]'))`) {
			t.Error("lines are not as before")
		}
	}},
	{"zoom and values by keyboard", func(t *testing.T, b *browser) {
		b.keys(course, kb.ArrowRight+kb.ArrowRight)
		if told := b.told(); !strings.HasPrefix(told, "t [h] 12.") {
			t.Errorf("it says %q", told)
		}
		b.keys(course, "+")
		if !value[bool](b, zoomedOf) {
			t.Error("no zoom")
		}
		b.keys(course, kb.Escape)
		if value[bool](b, zoomedOf) || b.told() != "" {
			t.Error("Escape does not show all")
		}
	}},
	{"a legend hides a curve, and shows it", func(t *testing.T, b *browser) {
		before := value[int](b, shownOf)
		x, y := b.over(course+" g.key", 0.7, 0.5)
		do(b, chromedp.MouseClickXY(x, y))
		b.wait("a curve is hidden", shownOf+" < "+strconv.Itoa(before))
		if bands := value[int](b, `document.querySelectorAll('`+course+` g.band.off-curve').length`); bands != 0 {
			t.Errorf("%d bands of other panels are hidden", bands)
		}
		hidden := value[string](b, `document.querySelector('`+course+` g.curve.off-curve').dataset.name`)
		b.pointAt(b.area(course, 0.51, 0.4))
		if told := b.told(); strings.Contains(told, hidden+" ") {
			t.Errorf("of the hidden curve it says %q", told)
		}
		b.shot("report_hidden")
		x, y = b.over(course+" g.key", 0.7, 0.5) // the page has moved
		do(b, chromedp.MouseClickXY(x, y))
		b.wait("it is shown", shownOf+" == "+strconv.Itoa(before))
		b.keys(course+" g.key", " ")
		if now := value[int](b, shownOf); now >= before {
			t.Errorf("by keyboard, %d curves of %d", now, before)
		}
		b.keys(course+" g.key", " ")
	}},
	{"dark and light", func(t *testing.T, b *browser) {
		paper, stroke := value[string](b, paperOf), value[string](b, strokeOf)
		b.pressed(".links button", `document.documentElement.dataset.theme == "dark"`)
		if value[string](b, paperOf) == paper || value[string](b, strokeOf) == stroke {
			t.Error("the colours are the same")
		}
		if words := b.text(".links button"); words != "Light" {
			t.Errorf("the button says %q", words)
		}
		b.shot("report_dark")
		b.over(heatMap, 0, 0)
		b.shot("report_dark_pictures")
		b.pressed(".links button", `document.documentElement.dataset.theme == "light"`)
		if value[string](b, paperOf) != paper || value[string](b, strokeOf) != stroke {
			t.Error("the colours do not come back")
		}
	}},
	{"a table sorts", func(t *testing.T, b *browser) {
		was := b.column(1)
		numbers := func() (list []float64) {
			for _, text := range b.column(1) {
				x, err := strconv.ParseFloat(strings.TrimRight(text, "?!~"), 64)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, x)
			}
			return list
		}
		const head = "table th:nth-child(2) button"
		const order = `document.querySelector("table th:nth-child(2)").ariaSort`
		b.pressed(head, order+` == "ascending"`)
		if list := numbers(); !slices.IsSorted(list) || len(list) < 4 || slices.Equal(b.column(1), was) {
			t.Errorf("after a click: %v", list)
		}
		b.pressed(head, order+` == "descending"`)
		list := numbers()
		slices.Reverse(list)
		if !slices.IsSorted(list) {
			t.Errorf("after two clicks: %v, backwards", list)
		}
		b.pressed(head, order+` == null`)
		if !slices.Equal(b.column(1), was) {
			t.Errorf("after three clicks: %v, not %v", b.column(1), was)
		}
	}},
	{"rows say whose they are, in every order", func(t *testing.T, b *browser) {
		const table = `[...document.querySelectorAll("table")].find(e => e.tHead?.textContent.includes("residual"))`
		text := `[...` + table + `.tBodies[0].rows].map(r => r.textContent).join("|")`
		was := value[string](b, text)
		value[chromedp.Void](b, table+`.querySelector("th:nth-child(3) button").click()`)
		rows := value[[]string](b, `[...`+table+`.tBodies[0].rows].map(r => r.cells[0].textContent.split(" ")[0])`)
		if n := len(rows); n != 15 || slices.Contains(rows, "") || rows[0] != "low" || rows[n-1] != "high" {
			t.Errorf("rows of %q", rows)
		}
		value[chromedp.Void](b, `(() => { const e = `+table+`.querySelector("th:nth-child(3) button")
			e.click(); e.click() })()`)
		if value[string](b, text) != was {
			t.Error("the table is not as it was")
		}
	}},
	{"a fold opens and closes", func(t *testing.T, b *browser) {
		text := func() bool { return value[bool](b, `document.querySelector(".source pre").checkVisibility()`) }
		if text() {
			t.Error("the text is open at first")
		}
		b.pressed("details > summary", `document.querySelector("details").open`)
		if !text() {
			t.Error("the text does not open")
		}
		b.shot("report_text")
		b.pressed("details > summary", `!document.querySelector("details").open`)
		if text() {
			t.Error("the text does not close")
		}
	}},
	{"the playground has the model", func(t *testing.T, b *browser) {
		text, err := os.ReadFile("../" + reported)
		if err != nil {
			t.Fatal(err)
		}
		b.press(".links a")
		b.wait("the playground opens", `location.pathname == "/playground.html"`)
		b.wait("the model is shown", `document.querySelector(".chart-line")`)
		if got := value[string](b, `document.querySelector('[data-part="editor"]').value`); got != string(text) {
			t.Errorf("the text is %q", got)
		}
		b.settle()
		if command := b.text(part("command")); !strings.Contains(command, "--set 'V=") {
			t.Errorf("the estimates are not there: %s", command)
		}
		b.reportAgain()
	}},
}

// TestBrowserReport does what readers of a report do.
func TestBrowserReport(t *testing.T) {
	b := open(t)
	b.report()
	b.shot("report")
	for _, s := range reportScenarios {
		t.Run(s.name, func(t *testing.T) {
			b.t = t
			s.do(t, b)
		})
	}
	b.t = t

	// On a phone, nothing is wider than the screen, and what one touches is large enough.
	do(b, chromedp.EmulateViewport(360, 640,
		chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait))
	b.reportAgain()
	b.shot("report_phone")
	if wide := value[int](b, `document.documentElement.scrollWidth`); wide > 360 {
		t.Errorf("the page is %d wide", wide)
	}
	value[chromedp.Void](b, `document.querySelectorAll("details").forEach(e => { e.open = true })`)
	small := value[[]string](b, `[...document.querySelectorAll("a, button, summary")]
		.filter(e => e.checkVisibility())
		.filter(e => { const r = e.getBoundingClientRect(); return r.height < 43.99 || r.width < 43.99 })
		.map(e => e.outerHTML.slice(0, 90))`)
	if len(small) > 0 {
		t.Errorf("too small to touch: %q", small)
	}
	if letters := value[float64](b, `Math.min(...[...document.querySelectorAll("figure svg text")].map(e =>
		parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.getScreenCTM().a))`); letters < 9 {
		t.Errorf("letters of figures are %.1f px high", letters)
	}
	x, y := b.area(course, 0.3, 0.4)
	do(b, chromedp.TapXY(x, y))
	b.wait("a touch tells values", `document.querySelector(".live-told").textContent.startsWith("t [h]")`)
	b.shot("report_phone_pictures")
	before := value[int](b, shownOf)
	touch := `figure:has(` + course + `) .live-keys button[aria-pressed]`
	b.tap(touch)
	b.wait("a touch hides a curve, and its band", shownOf+" < "+strconv.Itoa(before)+
		` && document.querySelectorAll('`+course+` g.band.off-curve').length == 1`)
	b.shot("report_phone_keys")

	// Without scripts all can be read.
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	b.reportAgain()
	time.Sleep(200 * time.Millisecond)
	if value[bool](b, `Boolean(document.querySelector(".live-told, th button"))`) {
		t.Error("scripts run")
	}
	figures := value[[]int](b, `(() => { const list = [...document.querySelectorAll("figure svg")]
		const seen = list.filter(e => e.getBoundingClientRect().height > 60 && e.querySelector("path"))
		return [list.length, seen.length] })()`)
	if figures[0] < 8 || figures[1] != figures[0] {
		t.Errorf("%d of %d figures are seen", figures[1], figures[0])
	}
	if rows := value[int](b, `document.querySelectorAll("tbody tr").length`); rows < 10 {
		t.Errorf("%d rows of tables", rows)
	}
}
