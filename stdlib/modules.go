package stdlib

import (
	"embed"
	"strings"
)

//go:embed std/*.ode
var modules embed.FS

// Module returns the text of an embedded module by its import path
// ("std/kinetics.ode").
func Module(path string) (text string, ok bool) {
	b, err := modules.ReadFile(path)
	return string(b), err == nil
}

// Modules returns the import paths of the embedded modules, in alphabetical order.
func Modules() []string {
	entries, err := modules.ReadDir("std")
	if err != nil {
		panic(err) // cannot happen: the folder is embedded
	}
	var paths []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".ode") {
			paths = append(paths, "std/"+e.Name())
		}
	}
	return paths
}
