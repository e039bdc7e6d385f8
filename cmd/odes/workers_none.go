//go:build js || nocluster

package main

import (
	"odes.dev/odes/internal/front/analysis"
)

// natsFlags, workerCmd and queueCmd are not part of this build.
type (
	natsFlags struct{}
	workerCmd struct{}
	queueCmd  struct{}
)

func (natsFlags) elsewhere(*call, string) (analysis.Backend, func(), error) {
	return nil, nil, usagef("this build of odes has no workers; --workers takes the number of searches at once")
}

func (workerCmd) Run() error { return usagef("this build of odes has no workers") }
func (queueCmd) Run() error  { return usagef("this build of odes has no queues") }
