package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"odes.dev/odes"
)

// The parts of SPDX 2.3 that are used.
type (
	document struct {
		Version       string        `json:"spdxVersion"`
		License       string        `json:"dataLicense"`
		ID            string        `json:"SPDXID"`
		Name          string        `json:"name"`
		Namespace     string        `json:"documentNamespace"`
		Creation      creation      `json:"creationInfo"`
		Packages      []spdxPackage `json:"packages"`
		Relationships []relation    `json:"relationships"`
	}
	creation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID        string      `json:"SPDXID"`
		Name      string      `json:"name"`
		Version   string      `json:"versionInfo"`
		Location  string      `json:"downloadLocation"`
		Analyzed  bool        `json:"filesAnalyzed"`
		Concluded string      `json:"licenseConcluded"`
		Declared  string      `json:"licenseDeclared"`
		Copyright string      `json:"copyrightText"`
		Refs      []reference `json:"externalRefs,omitempty"`
	}
	reference struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	relation struct {
		From string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// sbom lists what is linked. It depends on the commit alone.
func sbom(root string) ([]byte, error) {
	parts, err := linked(root)
	if err != nil {
		return nil, err
	}
	commit, created := commitOf(root)
	d := document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "odes-" + odes.Version,
		Namespace: "https://odes.dev/spdx/odes-" + odes.Version + "-" + commit,
		Creation:  creation{created, []string{"Tool: odes-release-" + odes.Version}},
	}
	add := func(p spdxPackage) {
		p.ID = "SPDXRef-" + notInID.ReplaceAllString(p.Name, "-")
		p.Concluded, p.Copyright = "NOASSERTION", "NOASSERTION"
		d.Packages = append(d.Packages, p)
	}
	add(spdxPackage{Name: "odes", Version: odes.Version, Location: "NOASSERTION", Declared: "BSD-3-Clause"})
	d.Relationships = append(d.Relationships, relation{d.ID, "DESCRIBES", d.Packages[0].ID})
	for i, p := range parts {
		declared, err := p.declared()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			version := strings.TrimPrefix(p.version, "go")
			add(spdxPackage{
				Name: "go", Version: version, Declared: declared,
				Location: "https://go.dev/dl/go" + version + ".src.tar.gz",
				Refs:     []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/stdlib@" + version}},
			})
		} else {
			add(spdxPackage{
				Name: p.path, Version: p.version, Declared: declared,
				Location: fmt.Sprintf("https://%s", p.path),
				Refs:     []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + p.path + "@" + p.version}},
			})
		}
		d.Relationships = append(d.Relationships, relation{
			d.Packages[0].ID, "STATIC_LINK", d.Packages[len(d.Packages)-1].ID,
		})
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

// commitOf returns the commit and when it was made; without git, neither.
func commitOf(root string) (commit, created string) {
	show := exec.Command("git", "log", "-1", "--format=%H %ct")
	show.Dir = root
	at := time.Unix(0, 0)
	if out, err := show.Output(); err == nil {
		var seconds int64
		if n, _ := fmt.Sscan(string(out), &commit, &seconds); n == 2 {
			at = time.Unix(seconds, 0)
		}
	}
	return commit, at.UTC().Format("2006-01-02T15:04:05Z")
}

// known are sentences by which licences are told.
var known = []struct{ sentence, id string }{
	{"SIL OPEN FONT LICENSE", "OFL-1.1"},
	{"Apache License", "Apache-2.0"},
	{"Neither the name", "BSD-3-Clause"},
	{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
	{"Permission is hereby granted, free of charge", "MIT"},
	{"CC0 1.0 Universal", "CC0-1.0"},
	{"Creative Commons Legal Code", "CC0-1.0"},
}

// declared is the licence in SPDX's words, as far as the files in the part's own folder tell.
func (p *part) declared() (string, error) {
	only := &part{path: p.path, dir: p.dir}
	names, err := only.licenses()
	if err != nil {
		return "", err
	}
	var ids []string
	seen := map[string]bool{}
	for _, name := range names {
		if strings.Contains(strings.ToUpper(name), "PATENTS") || strings.Contains(name, "THIRD_PARTY") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		flat := strings.Join(strings.Fields(string(text)), " ")
		for _, k := range known {
			if strings.Contains(strings.ToLower(flat), strings.ToLower(k.sentence)) {
				if !seen[k.id] {
					ids = append(ids, k.id)
				}
				seen[k.id] = true
				break
			}
		}
	}
	if len(ids) == 0 {
		return "NOASSERTION", nil
	}
	return strings.Join(ids, " AND "), nil
}
