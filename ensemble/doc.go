// Package ensemble runs one model for many sets of values: draws from distributions, rows of a table, grids. These are
// the types that a program meets, in order:
//
//   - Job says what is to be computed: a model with its files, options, and a Design. It is plain data, and its ID is
//     that of its content.
//   - Design says which values each member has.
//   - Open makes a Problem of a Job: the compiled model, and a Table that says what a row of results holds.
//   - Run computes the members in chunks, on all cores or wherever a Backend does it, and hands over the chunks in the
//     order of the members. A Journal keeps what is done, for a run to go on after it was killed.
//   - Statistics sum up rows while they come. Indices, Effects and Derivatives say which values matter.
//   - Write stores all rows in a file.
//
// A member's results have the bits that it has alone, whatever ran before it, on how many threads or machines, in which
// order. What is kept in memory does not grow with the number of members.
package ensemble
