// The documentation site has a module of its own, so that none of its tools are dependencies of odes.
module odes.dev/odes/site

go 1.26.8

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	golang.org/x/net v0.62.0
)

require github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
