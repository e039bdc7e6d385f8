//go:build !unix

package input

// nonblock is nothing where no pipe can stand in a folder.
const nonblock = 0
