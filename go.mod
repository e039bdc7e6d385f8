module odes.dev/odes

go 1.26.8
