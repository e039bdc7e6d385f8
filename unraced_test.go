//go:build !race

package odes_test

const raced = false
