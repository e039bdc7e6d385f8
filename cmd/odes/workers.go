package main

import "odes.dev/odes/ensemble"

// workersFlags say who computes.
type workersFlags struct{}

// backend returns who computes.
func (workersFlags) backend(_ *call, local ensemble.Backend) (ensemble.Backend, error) {
	return local, nil
}
