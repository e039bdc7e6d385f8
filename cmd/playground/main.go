//go:build js && wasm

// Command playground is what a page of the site runs in a worker: it makes the
// function odesAnswer, which answers requests of package playground, and says
// that it has by calling odesReady.
package main

import (
	"syscall/js"

	"odes.dev/odes/internal/front/playground"
)

func main() {
	var bench playground.Bench
	js.Global().Set("odesAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(bench.Answer([]byte(args[0].String())))
	}))
	js.Global().Call("odesReady")
	select {}
}
