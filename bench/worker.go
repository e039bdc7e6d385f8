package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"

	"odes.dev/odes"
)

// sample is one line of a program: one gradient, or the least time and the median of many.
type sample struct {
	Peer     string  `json:"peer"`
	Steps    float64 `json:"steps"`
	Rejected int     `json:"rejected"`
	Forward  float64 `json:"forward_s"`
	Adjoint  float64 `json:"adjoint_s"`
	Total    float64 `json:"total_s"`
	Checksum float64 `json:"checksum"`
	Median   float64 `json:"total_median_s"` // 0: of one gradient
	Norm     float64 `json:"gradnorm"`       // the checksum of many
}

// job is what a process of our own is asked to do.
type job struct {
	problem string
	n       int
	tol     float64
	threads int
	lanes   int
	runs    int
	of      string // objectives, with commas between; "" for all
	wrt     string
	dump    string
	ref     string // the gradient that errors are measured by (worker stiff)
	// of a work–precision diagram: method and mode of its curve, and the tolerances, with commas between
	method, mode, tols string
	wanted             bool // the tolerance is asked of the derivatives, too
	slowest            float64
	seed               uint64 // seed of a network (worker species)
}

// model parses the model of the job.
func (j *job) model() (*odes.Model, odes.Options, error) {
	p, opts, err := named(j.problem, j.n, j.tol)
	if err != nil {
		return nil, opts, err
	}
	opts.Threads, opts.Lanes = j.threads, j.lanes
	if j.of != "" {
		opts.Of = strings.Split(j.of, ",")
	}
	if j.wrt != "" {
		opts.Wrt = strings.Split(j.wrt, ",")
	}
	m, err := p.parse(j.problem)
	return m, opts, err
}

// gradients prints one line per gradient, made by one Runner. The first pays
// for the first use of memory and is to be thrown away.
func (j *job) gradients() error {
	m, opts, err := j.model()
	if err != nil {
		return err
	}
	r, err := m.Prepare(opts)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(os.Stdout)
	for range j.runs {
		s, err := r.Sensitivities(context.Background())
		if err != nil {
			return err
		}
		out := sample{
			Peer: "odes", Steps: float64(s.Stats.Steps), Rejected: s.Stats.Rejected,
			Forward: s.Stats.Seconds.Forward, Adjoint: s.Stats.Seconds.Adjoint, Checksum: norm(s),
		}
		out.Total = out.Forward + out.Adjoint
		if err := enc.Encode(out); err != nil {
			return err
		}
		if j.dump != "" {
			return dump(j.dump, s)
		}
	}
	return nil
}

// norm is the Frobenius norm of the derivatives by params.
func norm(s *odes.Sensitivities) float64 {
	sum := 0.0
	for i := range s.Values {
		for _, v := range s.Variables {
			if v.Initial {
				continue
			}
			for _, x := range s.Derivative(i, v) {
				sum += x * x
			}
		}
	}
	return math.Sqrt(sum)
}

// dump writes the gradient: little-endian doubles, row by row.
func dump(path string, s *odes.Sensitivities) error {
	b := make([]byte, 8*len(s.Gradient))
	for i, x := range s.Gradient {
		binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(x))
	}
	return os.WriteFile(path, b, 0o644)
}

// evaluations prints the cost of one right-hand side and one transpose.
func (j *job) evaluations() error {
	m, opts, err := j.model()
	if err != nil {
		return err
	}
	b, err := m.Bench(context.Background(), 1, opts)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(evaluation{b.RHS, b.VJP})
}

type evaluation struct{ RHS, VJP odes.BenchProgram }

// step prints, for the network, what one step of Euler's method and its
// transpose say about the right-hand side: the sums that the C program prints.
func (j *job) step() error {
	m, opts, err := j.model()
	if err != nil {
		return err
	}
	opts.Of = []string{"all"}
	s, err := m.Sensitivities(context.Background(), opts)
	if err != nil {
		return err
	}
	net := newNetwork(j.n, 5*j.n/2)
	c := networkSums{F: s.Values[0].Value}
	for i, x := range net.start {
		c.F -= x / float64(i+1)
	}
	for _, v := range s.Variables {
		var i int
		d := s.Derivative(0, v)[0]
		if v.Initial {
			_, err = fmt.Sscanf(v.Name, "s%d", &i)
			c.Y += (d - 1/float64(i+1)) * float64(i%7)
		} else {
			_, err = fmt.Sscanf(v.Name, "k%d", &i)
			c.K += d * float64(i%5)
		}
		if err != nil {
			return err
		}
	}
	c.F, c.Y, c.K = c.F/networkEnd, c.Y/networkEnd, c.K/networkEnd
	return json.NewEncoder(os.Stdout).Encode(c)
}

// networkSums are sums over a right-hand side and its transpose at the start.
type networkSums struct {
	RHS  float64 `json:"rhs_ns"`
	VJP1 float64 `json:"vjp1_ns"`
	VJP8 float64 `json:"vjp8_ns"`
	F    float64 `json:"f"`
	Y    float64 `json:"yb"`
	K    float64 `json:"kb"`
}
