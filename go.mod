module odes.dev/odes

go 1.26.8

require (
	github.com/alecthomas/participle/v2 v2.1.4 // indirect
	golang.org/x/text v0.43.0 // indirect
)
