package main

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var shots = flag.String("shots", "", "folder to write pictures of pages to")

// A browser shows the built site, which a server on this machine serves.
type browser struct {
	t    *testing.T
	ctx  context.Context
	root string // address of the site
	made string // folder of pages that a test makes, which are under made/

	mu       sync.Mutex
	problems []string
}

// open starts a browser and a server. At the end of the test, whatever went
// wrong in a page fails it.
func open(t *testing.T) *browser {
	t.Helper()
	command := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			command = found
			break
		}
	}
	if command == "" {
		t.Fatal("no Chromium here; without this test: go test -skip Browser")
	}
	if _, err := os.Stat(filepath.Join(public, "index.html")); err != nil {
		t.Fatalf("%v: make site builds it", err)
	}
	made := t.TempDir()
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(public)))
	mux.Handle("/made/", http.StripPrefix("/made/", http.FileServer(http.Dir(made))))
	mux.HandleFunc("/favicon.ico", func(http.ResponseWriter, *http.Request) {})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	allocator, cancel := chromedp.NewExecAllocator(t.Context(),
		chromedp.ExecPath(command), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.NoDefaultBrowserCheck, chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1400, 900),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true),
	)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx, root: server.URL, made: made}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			t.Error(p)
		}
	})
	return b
}

// listen notes errors of scripts, answers that are errors, and requests to others.
func (b *browser) listen(event any) {
	problem := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			problem = "console: "
			for _, a := range e.Args {
				problem += string(a.Value) + a.Description
			}
		}
	case *runtime.EventExceptionThrown:
		problem = "script: " + e.ExceptionDetails.Text + " " + e.ExceptionDetails.URL
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			problem = "log: " + e.Entry.Text + " " + e.Entry.URL
		}
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 {
			problem = "answer " + e.Response.StatusText + ": " + e.Response.URL
		}
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, b.root+"/") && !strings.HasPrefix(u, "data:") {
			problem = "request to another place: " + u
		}
	}
	if problem != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.problems = append(b.problems, problem)
	}
}

// do runs an action. It has two minutes, since machines may be busy. A question that is under way while the browser
// goes to another page has no answer, and is asked once more.
func do[T any](b *browser, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	for {
		v, err := chromedp.Run(ctx, a)
		switch {
		case err == nil:
			return v
		case !left(err) || ctx.Err() != nil:
			b.t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// leave runs an action that leads to another page, which may come before the action has ended.
func leave[T any](b *browser, a chromedp.Action[T]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	if _, err := chromedp.Run(ctx, a); err != nil && !left(err) {
		b.t.Fatal(err)
	}
}

// left reports whether err says that the page to which an action belonged is no longer there.
func left(err error) bool {
	return strings.Contains(err.Error(), "Inspected target navigated or closed")
}

// value returns the value of an expression in the page's language of scripts.
func value[T any](b *browser, expression string) T {
	b.t.Helper()
	return do(b, chromedp.Evaluate[T](expression))
}

// at returns the address of the page, from the site's root. The server writes
// the name index.html as nothing.
func (b *browser) at() string {
	b.t.Helper()
	address := strings.TrimPrefix(do(b, chromedp.Location()), b.root)
	end := strings.IndexAny(address+"?", "?#")
	if strings.HasSuffix(address[:end], "/") {
		return address[:end] + "index.html" + address[end:]
	}
	return address
}

// visit opens a page by its address.
func (b *browser) visit(page string) {
	b.t.Helper()
	do(b, chromedp.Steps(chromedp.Navigate(b.root+page), chromedp.WaitReady(chromedp.CSS("article"))))
}

// click clicks on what a reader sees, and waits for the page that it leads to.
func (b *browser) click(selector, page string) {
	b.t.Helper()
	do(b, chromedp.WaitVisible(chromedp.CSS(selector)))
	from := b.at()
	b.press(selector)
	at := b.at()
	for range 1200 {
		if address, _, _ := strings.Cut(at, "?"); address == page {
			do(b, chromedp.WaitReady(chromedp.CSS("article")))
			return
		}
		time.Sleep(50 * time.Millisecond)
		at = b.at()
	}
	b.t.Fatalf("a click on %s on %s leads to %s, not %s", selector, from, at, page)
}

// press clicks on an element, and tap touches it.
func (b *browser) press(selector string) {
	b.t.Helper()
	hit(b, selector, chromedp.Click(chromedp.CSS(selector)))
}

func (b *browser) tap(selector string) {
	b.t.Helper()
	hit(b, selector, chromedp.Tap(chromedp.CSS(selector)))
}

// hit repeats a click until it arrives at its element: a page that is still being laid out may move under the pointer.
// Another page knows nothing of the click: it is there because the click arrived.
func hit[T any](b *browser, selector string, click chromedp.Action[T]) {
	b.t.Helper()
	name := strconv.Quote(selector)
	for range 10 {
		value[chromedp.Void](b, `(() => {
			if (!window.target) document.addEventListener("click", e => {
				if (e.target.closest?.(window.target)) window.hit = true
			}, true)
			window.target = `+name+`
			window.hit = false })()`)
		leave(b, chromedp.ScrollIntoView(chromedp.CSS(selector)))
		leave(b, click)
		for range 40 {
			if value[bool](b, "window.hit !== false") {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	b.t.Fatalf("no click arrives at %s", selector)
}

// shot writes a picture of the page, if these are asked for.
func (b *browser) shot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	picture := do(b, chromedp.CaptureScreenshot())
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// brokenImages lists the pictures of a page that are none. Those that were to be loaded later are loaded.
const brokenImages = `Promise.all([...document.images].map(i => {
	i.loading = "eager"
	return i.decode().then(() => "", () => i.src)
})).then(list => list.filter(s => s))`

// tooWide lists what reaches beyond the page, but for what lies in something that scrolls by itself, or along with it,
// as the colours of the playground's editor do.
const tooWide = `[...document.querySelectorAll("article, article *")].filter(e => {
	if (e.getBoundingClientRect().right <= screen.width + 1) return false
	for (let around = e.parentElement; around && around.tagName != "ARTICLE"; around = around.parentElement)
		if (around.matches(".editor pre") ||
			["auto", "scroll"].includes(getComputedStyle(around).overflowX)) return false
	return true
}).map(e => e.outerHTML.slice(0, 80))`

// broken returns what brokenImages lists.
func (b *browser) broken() []string {
	b.t.Helper()
	return do(b, chromedp.Evaluate[[]string](brokenImages, chromedp.EvalAwaitPromise))
}

// TestBrowser clicks through the site as a reader does.
func TestBrowser(t *testing.T) {
	b := open(t)
	b.visit("/index.html")
	if got := value[string](b, `document.querySelector("h1").firstChild.textContent`); got != "odes" {
		t.Errorf("the home page is headed %q", got)
	}
	if got := value[string](b, `document.querySelector(".sidebar-tree a").textContent`); got != "Tutorial" {
		t.Errorf("the first in the navigation is %q", got)
	}
	b.shot("home")
	if n := value[int](b, `document.querySelectorAll(".copy-button").length`); n != 3 {
		t.Errorf("the home page has %d commands with a button that copies them", n)
	}
	if n := value[int](b, `document.querySelectorAll(".home-picture animate").length`); n == 0 {
		t.Error("the picture of the home page does not move")
	}

	b.click(`.sidebar-tree a[href$="tutorial.html"]`, "/docs/tutorial.html")
	b.shot("tutorial")
	b.click(`.sidebar-tree a[href$="language.html"]`, "/docs/language.html")
	b.shot("language")
	if n := value[int](b, `document.querySelectorAll(".highlight-odes span.kd").length`); n < 10 {
		t.Errorf("models of the manual have %d coloured words", n)
	}
	b.click(`.sidebar-tree a[href$="man/odes.html"]`, "/docs/man/odes.html")
	b.click(`article a[href="odes-sens.html"]`, "/docs/man/odes-sens.html")
	b.shot("manual")

	b.click(`.sidebar-tree a[href$="examples/index.html"]`, "/examples/index.html")
	if cards := value[int](b, `document.querySelectorAll(".gallery img").length`); cards < 20 {
		t.Errorf("%d pictures in the gallery", cards)
	}
	if list := b.broken(); len(list) > 0 {
		t.Errorf("pictures of the gallery that are none: %v", list)
	}
	b.shot("gallery")
	b.click(`.gallery img[alt="Bouncing ball"]`, "/examples/bounce/index.html")
	if n := value[int](b, `document.querySelectorAll("article img").length`); n == 0 {
		t.Error("the example shows no picture")
	}
	b.shot("example")

	b.click(`.sidebar-tree a[href$="api/index.html"]`, "/api/index.html")
	b.shot("packages")
	b.click(`article a[href="solvers.html"]`, "/api/solvers.html")
	b.click(`.toc-tree a[href="#type-method"]`, "/api/solvers.html#type-method")
	b.shot("package")

	// One finds a word, and follows the first hit.
	leave(b, chromedp.SendKeys(chromedp.CSS(`.sidebar-search`), "bounce"+kb.Enter))
	do(b, chromedp.WaitVisible(chromedp.CSS(`#search-results li a`)))
	const found = `[...document.querySelectorAll("#search-results li a")]` +
		`.map(a => a.getAttribute("href").split(/[?#]/)[0])`
	for tries := 0; ; tries++ {
		hits := value[[]string](b, found)
		if slices.Contains(hits, "examples/bounce/index.html") {
			break
		}
		if tries == 600 {
			t.Fatalf("a search for bounce does not find the example, but %v", hits)
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.shot("search")
	b.click(`#search-results li a[href^="examples/bounce/index.html"]`, "/examples/bounce/index.html")

	// Light and dark.
	background := func() string { return value[string](b, `getComputedStyle(document.body).backgroundColor`) }
	before := background()
	value[chromedp.Void](b, `localStorage.setItem("theme", "dark")`)
	b.visit("/examples/bounce/index.html")
	if after := background(); after == before {
		t.Errorf("light and dark pages are both %s", before)
	}
	b.shot("example_dark")
	b.visit("/examples/index.html")
	b.shot("gallery_dark")
}

// TestBrowserPhone opens every page as wide as a phone: none is wider, no
// picture is missing, no script fails. The navigation opens by a tap.
func TestBrowserPhone(t *testing.T) {
	b := open(t)
	do(b, chromedp.EmulateViewport(390, 844,
		chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait))
	b.visit("/index.html")
	b.shot("phone_home")
	b.tap(`label.nav-overlay-icon`)
	time.Sleep(500 * time.Millisecond)
	b.shot("phone_navigation")
	b.click(`.sidebar-tree a[href$="tutorial.html"]`, "/docs/tutorial.html")
	b.shot("phone_tutorial")

	all := documents(t)
	for name := range all {
		b.visit("/" + name)
		if list := value[[]string](b, tooWide); len(list) > 0 {
			t.Errorf("%s: wider than the page: %q", name, list)
		}
		if list := b.broken(); len(list) > 0 {
			t.Errorf("%s: no pictures: %v", name, list)
		}
		switch name {
		case "examples/index.html", "examples/cart/index.html", "docs/methods.html", "api/solvers.html":
			b.shot("phone_" + strings.ReplaceAll(strings.TrimSuffix(name, ".html"), "/", "_"))
		}
	}
	if len(all) < 50 {
		t.Errorf("only %d pages", len(all))
	}
}
