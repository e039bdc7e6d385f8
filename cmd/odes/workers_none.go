//go:build js || nocluster

package main

import "odes.dev/odes/ensemble"

// workersFlags, workerCmd and queueCmd are not part of this build.
type (
	workersFlags struct{}
	workerCmd    struct{}
	queueCmd     struct{}
)

func (workersFlags) backend(_ *call, local ensemble.Backend) (b ensemble.Backend, end func(), err error) {
	return local, func() {}, nil
}

func (workerCmd) Run() error { return usagef("this build of odes has no workers") }
func (queueCmd) Run() error  { return usagef("this build of odes has no queues") }
