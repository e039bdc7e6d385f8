// Command _asm writes the AVX2 and AVX-512 kernels of package simd. It is run by go generate in
// that package's folder. It knows the arguments and loops of kernels, and takes their bodies from
// package emit.
package main

import (
	"flag"
	"log"
	"os"

	. "github.com/mmcloughlin/avo/build"

	"odes.dev/odes/internal/base/simd/_asm/emit"
)

func main() {
	coefficients := flag.String("elem", "../../elem/coef.go", "coefficients of the elementary functions")
	table := flag.String("table", "", "file for the functions that choose a kernel")
	only512 := flag.Bool("wide", false, "write the AVX-512 kernels, and nothing else")
	flag.Parse()
	ConstraintExpr("amd64,!purego")
	if *only512 {
		wide()
		Generate()
		return
	}
	coef, err := emit.LoadCoefficients(*coefficients)
	if err != nil {
		log.Fatal(err)
	}
	elementwise()
	functions(coef)
	reductions()
	directions()
	combinations()
	products()
	text, err := dispatch()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*table, text, 0o644); err != nil {
		log.Fatal(err)
	}
	Generate()
}
