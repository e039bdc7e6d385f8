// Command site writes the sources of the documentation site: the repository's
// documents, manual pages and examples, and a page for every Go package, as
// Markdown that Sphinx makes HTML of. It finds what there is by itself; only
// the order of the navigation is written down here.
//
//	go run .
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", "..", "folder of the repository")
	out := flag.String("out", ".build/content", "folder to write; what is in it goes")
	odes := flag.String("odes", "../odes", "the odes command, which draws the examples")
	flag.Parse()
	command, err := filepath.Abs(*odes)
	if err == nil {
		err = write(*root, *out, command)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// write stages the whole site.
func write(root, out, odes string) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	s, err := newSite(root, out)
	if err != nil {
		return err
	}
	for _, stage := range []func() error{
		s.addDocuments,
		s.addManual,
		func() error { return s.addExamples(odes) },
		s.addPlayground,
		s.addPackages,
		s.writePages,
	} {
		if err := stage(); err != nil {
			return err
		}
	}
	return nil
}
