// Command release makes what a release has besides its binaries. CONTRIBUTING.md says when each of these runs; the
// Makefile calls them.
//
//	go run ./cmd/release version 0.2.0     # gives the repository that version
//	go run ./cmd/release notices           # writes THIRD_PARTY_NOTICES: licences of everything that is linked
//	go run ./cmd/release sbom              # prints the list of parts, in the form of SPDX 2.3
//	go run ./cmd/release zip FOLDER FILE   # an archive for Windows, with the same bytes each time
//	go run ./cmd/release files             # prints the names of the release's files
//	go run ./cmd/release recipes           # writes dist/recipes for package managers, with sums of dist/SHA256SUMS
//
// It runs in the folder of the repository.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

//go:generate go run . notices

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	root, err := root()
	if err != nil {
		return err
	}
	switch {
	case len(args) == 1 && args[0] == "notices":
		text, err := notices(root)
		if err != nil {
			return err
		}
		return os.WriteFile(inside(root, noticesFile), []byte(text), 0o666)
	case len(args) == 1 && args[0] == "sbom":
		text, err := sbom(root)
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(text)
		return err
	case len(args) == 3 && args[0] == "zip":
		return zipFolder(args[1], args[2])
	case len(args) == 1 && args[0] == "files":
		names, err := files(root)
		if err != nil {
			return err
		}
		_, err = fmt.Println(strings.Join(names, "\n"))
		return err
	case len(args) == 1 && args[0] == "recipes":
		return writeRecipes(root)
	case len(args) == 2 && args[0] == "version":
		return setVersion(root, args[1], time.Now())
	}
	return fmt.Errorf("what is to be made? version NUMBER, notices, sbom, zip FOLDER FILE, files or recipes")
}
