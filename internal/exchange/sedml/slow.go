package sedml

import (
	"archive/zip"
	"bytes"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/exchange/sbml"
)

// Slow makes reactions that are marked as fast usual ones, in a model or in an archive of models. Other texts, and
// archives that cannot be read, stay as they are.
func Slow(text []byte) []byte {
	if !IsArchive(string(text[:min(len(text), 4)])) {
		return sbml.Slow(text)
	}
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return text
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	left := int64(input.MaxText)
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		content, err := slowed(f, left)
		if err != nil {
			return text
		}
		left -= int64(len(content))
		to, err := w.Create(f.Name)
		if err != nil {
			return text
		}
		to.Write(content)
	}
	if w.Close() != nil {
		return text
	}
	return out.Bytes()
}

func slowed(f *zip.File, limit int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content, err := input.Stream(r, limit)
	if err != nil {
		return nil, err
	}
	return sbml.Slow(content), nil
}
