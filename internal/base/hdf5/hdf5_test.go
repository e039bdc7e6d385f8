package hdf5_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/hdf5"
)

func read(t *testing.T, name string) (map[string]hdf5.Array, error) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return hdf5.Read(b)
}

// TestRead reads what h5py 3.16 wrote, by the oldest and by the newest version of the format.
func TestRead(t *testing.T) {
	x := hdf5.Array{Shape: []int{5, 7}}
	for i := range 35 {
		x.Data = append(x.Data, 0.25*float64(i)-3)
	}
	for name, paths := range map[string][]string{
		"old.h5": {"plain", "single", "big", "chunks", "deflated", "one"}, "new.h5": {"plain", "single", "big"},
	} {
		all, err := read(t, name)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, p := range paths {
			got := all["parameters/net/"+p]
			if !slices.Equal(got.Shape, x.Shape) || !slices.Equal(got.Data, x.Data) {
				t.Errorf("%s: %s is %v", name, p, got)
			}
		}
		if got := all["scalar"]; len(got.Shape) != 0 || !slices.Equal(got.Data, []float64{2.5}) {
			t.Errorf("%s: the scalar is %v", name, got)
		}
	}
	all, _ := read(t, "old.h5")
	if got := all["parameters/net/whole"]; !slices.Equal(got.Data, []float64{-1, 2, 300}) {
		t.Error(got)
	}
	for _, p := range []string{"many/a00", "many/a11", "metadata/pytorch_format"} {
		if _, is := all[p]; !is {
			t.Errorf("there is no %s", p)
		}
	}
	if _, is := all["metadata/name"]; is {
		t.Error("a text is no array of numbers")
	}
}

// TestRefused names what is not read.
func TestRefused(t *testing.T) {
	for name, want := range map[string]string{
		"heap.h5": "kept in a heap", "fixed.h5": "index of a new version", "lzf.h5": "the filter 32000",
	} {
		if _, err := read(t, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := hdf5.Read([]byte("no file")); err == nil {
		t.Error("this is no file")
	}
}

// TestCut reads files that end too soon, and files of which a byte is another: they are read or refused.
func TestCut(t *testing.T) {
	b, err := os.ReadFile("testdata/new.h5")
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(b) {
		_, _ = hdf5.Read(b[:n])
		other := slices.Clone(b)
		for _, v := range []byte{0, 0xff, other[n] ^ 0x80, other[n] + 1} {
			other[n] = v
			_, _ = hdf5.Read(other)
		}
	}
}

// FuzzRead reads anything.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"old.h5", "new.h5", "heap.h5", "fixed.h5"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := hdf5.Read(b)
		if err != nil {
			return
		}
		for path, a := range all {
			n := 1
			for _, k := range a.Shape {
				n *= k
			}
			if n != len(a.Data) {
				t.Errorf("%s has %d numbers in %v", path, len(a.Data), a.Shape)
			}
		}
	})
}
