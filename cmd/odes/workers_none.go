//go:build js || nocluster

package main

import (
	"odes.dev/odes/ensemble"
	"odes.dev/odes/internal/front/analysis"
)

// workersFlags, natsFlags, workerCmd and queueCmd are not part of this build.
type (
	natsFlags    struct{}
	workersFlags struct{}
	workerCmd    struct{}
	queueCmd     struct{}
)

func (workersFlags) backend(_ *call, local ensemble.Backend) (b ensemble.Backend, end func(), err error) {
	return local, func() {}, nil
}

func (natsFlags) elsewhere(*call, string) (analysis.Backend, func(), error) {
	return nil, nil, usagef("this build of odes has no workers; --workers takes the number of searches at once")
}

func (workerCmd) Run() error { return usagef("this build of odes has no workers") }
func (queueCmd) Run() error  { return usagef("this build of odes has no queues") }
