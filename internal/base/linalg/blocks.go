package linalg

import "slices"

// match finds a maximum matching of rows to columns by entries of the pattern: rows[j] is the row
// of column j, or −1. It keeps as many entries on the diagonal as it can start with, and looks for
// augmenting paths for the other columns (I. S. Duff, On algorithms for obtaining a maximum
// transversal, ACM Trans. Math. Softw. 7, 1981).
func match(p *Pattern) (rows []int32, matched int) {
	n := p.N
	rows, cols := make([]int32, n), make([]int32, n)
	for j := range n {
		rows[j], cols[j] = -1, -1
	}
	for j := range n {
		if _, ok := slices.BinarySearch(p.column(j), int32(j)); ok {
			rows[j], cols[j] = int32(j), int32(j)
			matched++
		}
	}
	seen := make([]int32, n)           // the column that last visited this column, + 1
	cheap := slices.Clone(p.Start[:n]) // rows of the column before this place are taken for good
	next := make([]int32, n)
	var path []int32
	for root := range n {
		if rows[root] >= 0 {
			continue
		}
		path = append(path[:0], int32(root))
		seen[root], next[root] = int32(root)+1, p.Start[root]
	search:
		for len(path) > 0 {
			j := path[len(path)-1]
			end := p.Start[j+1]
			for cheap[j] < end {
				i := p.Rows[cheap[j]]
				cheap[j]++
				if cols[i] < 0 { // the end of a path: each column of it takes the row of the next one
					for k := len(path) - 1; k >= 0; k-- {
						j := path[k]
						i, rows[j] = rows[j], i
						cols[rows[j]] = j
					}
					matched++
					break search
				}
			}
			deeper := false
			for next[j] < end {
				other := cols[p.Rows[next[j]]]
				next[j]++
				if seen[other] != int32(root)+1 {
					seen[other], next[other] = int32(root)+1, p.Start[other]
					path = append(path, other)
					deeper = true
					break
				}
			}
			if !deeper {
				path = path[:len(path)-1]
			}
		}
	}
	return rows, matched
}

// unmatched returns the error for a pattern in which no matching is perfect. The rows named lie in
// no matching of most rows; the columns are those from which an unmatched column could be reached
// by exchanging rows, whose entries therefore lie in too few rows.
func unmatched(p *Pattern, rows []int32) *SingularError {
	e := &SingularError{Structural: true}
	cols := make([]int32, p.N)
	for i := range cols {
		cols[i] = -1
	}
	seen := make([]bool, p.N)
	var queue []int32
	for j, i := range rows {
		if i >= 0 {
			cols[i] = int32(j)
		} else {
			seen[j] = true
			queue = append(queue, int32(j))
		}
	}
	for i, j := range cols {
		if j < 0 {
			e.Rows = append(e.Rows, i)
		}
	}
	for len(queue) > 0 {
		j := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		e.Cols = append(e.Cols, int(j))
		for _, i := range p.column(int(j)) {
			if other := cols[i]; !seen[other] {
				seen[other] = true
				queue = append(queue, other)
			}
		}
	}
	slices.Sort(e.Cols)
	return e
}

// triangular finds the strongly connected components of a matrix whose column j has its pivot in
// row rows[j]: its irreducible blocks. In the order of the blocks the matrix is block upper
// triangular. The columns of block b are cols[start[b]:start[b+1]], ascending. (R. Tarjan,
// Depth-first search and linear graph algorithms, SIAM J. Comput. 1, 1972.)
func triangular(p *Pattern, rows []int32) (cols, start []int32) {
	n := p.N
	colOf := make([]int32, n)
	for j, i := range rows {
		colOf[i] = int32(j)
	}
	const none = -1
	index, low, next := make([]int32, n), make([]int32, n), slices.Clone(p.Start[:n])
	onStack := make([]bool, n)
	for j := range index {
		index[j] = none
	}
	var stack, path []int32
	count := int32(0)
	enter := func(j int32) {
		index[j], low[j] = count, count
		count++
		onStack[j] = true
		stack = append(stack, j)
		path = append(path, j)
	}
	start = []int32{0}
	for root := range n {
		if index[root] != none {
			continue
		}
		enter(int32(root))
		for len(path) > 0 {
			j := path[len(path)-1]
			if next[j] < p.Start[j+1] {
				other := colOf[p.Rows[next[j]]]
				next[j]++
				if index[other] == none {
					enter(other)
				} else if onStack[other] {
					low[j] = min(low[j], index[other])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				above := path[len(path)-1]
				low[above] = min(low[above], low[j])
			}
			if low[j] == index[j] {
				from := len(cols)
				for {
					top := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					onStack[top] = false
					cols = append(cols, top)
					if top == j {
						break
					}
				}
				slices.Sort(cols[from:])
				start = append(start, int32(len(cols)))
			}
		}
	}
	return cols, start
}
