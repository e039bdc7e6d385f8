package playground

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
)

// MostLink is how long the fragment of a link may be: some browsers cut longer ones.
const MostLink = 60_000

// Link returns the fragment of a link that opens a model in the playground, with its files by the names that the text
// has for them, and values that differ from those of the text, by names such as k and A[1]: base64 of compressed JSON.
func Link(text string, files map[string]string, set map[string]float64) (string, error) {
	value := struct {
		Text  string             `json:"text"`
		Files map[string]string  `json:"files,omitempty"`
		Set   map[string]float64 `json:"set,omitempty"`
	}{text, files, set}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return "", err
	}
	j := json.NewEncoder(w)
	j.SetEscapeHTML(false)
	if err := j.Encode(value); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return "m=" + base64.RawURLEncoding.EncodeToString(packed.Bytes()), nil
}

// Named returns the files that a model's text names, as the page finds them.
func Named(text string) (names []string) {
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`\b(?:csv|load|npy|mtx|import\s+[^"\n]*from)\s*\(?\s*"([^"\n]+)"`).
		FindAllStringSubmatch(text, -1) {
		if name := m[1]; !seen[name] && !strings.HasPrefix(name, "std/") {
			names, seen[name] = append(names, name), true
		}
	}
	return names
}
