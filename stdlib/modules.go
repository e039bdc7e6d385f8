package stdlib

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed std
var modules embed.FS

// Module returns the text of an embedded module or component by its import path ("std/kinetics.ode",
// "std/pk/one.ode").
func Module(path string) (text string, ok bool) {
	b, err := modules.ReadFile(path)
	return string(b), err == nil
}

// Components returns the import paths of the embedded components, which are models, in alphabetical order.
func Components() []string {
	paths, err := fs.Glob(modules, "std/*/*.ode")
	if err != nil {
		panic(err) // cannot happen: the pattern is right
	}
	return paths
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
