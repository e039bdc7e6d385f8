package linalg

import (
	"math"
	"slices"
)

// MinimumDegree orders the rows and columns of a matrix of n rows with entries at these places such that elimination
// fills little. Places outside of it are not looked at.
func MinimumDegree(n int, rows, cols []int32) []int32 {
	adj := make([][]int32, n)
	for e, i := range rows {
		if j := cols[e]; i != j && int(i) < n && int(j) < n {
			adj[i], adj[j] = append(adj[i], j), append(adj[j], i)
		}
	}
	for i, a := range adj {
		slices.Sort(a)
		adj[i] = slices.Compact(a)
	}
	return minimumDegree(adj)
}

// minimumDegree orders the nodes of an undirected graph so that the elimination of a symmetric
// matrix with this graph fills little: it returns them in the order of elimination. The neighbours
// of node i are adj[i], in any order, without i and without duplicates; the slices are overwritten.
//
// It is the approximate minimum degree algorithm of P. R. Amestoy, T. A. Davis and I. S. Duff (SIAM
// J. Matrix Anal. Appl. 17, 1996): eliminated nodes are elements of a quotient graph, the degree of
// a node is bounded from above by the sizes of its elements, nodes that cannot be told apart are
// one, and elements that another one covers are absorbed. Nodes with very many neighbours come
// last.
func minimumDegree(adj [][]int32) []int32 {
	g := newQuotient(adj)
	for g.eliminated < g.n {
		g.eliminate(g.pick())
	}
	return g.order()
}

// quotient is a quotient graph. A node is a variable until it is a pivot, and an element then.
type quotient struct {
	n        int
	adj      [][]int32 // of a variable: variables beside it that no element shows. Of an element: its variables
	elements [][]int32 // of a variable: the elements beside it
	size     []int32   // of a variable: how many nodes it stands for; 0 if another one, or an element, stands for it
	degree   []int32   // of a variable: the bound; of an element: the size of its variables
	parent   []int32   // of a node that is not alive: who stands for it; −1 for a pivot
	dead     []bool    // elements that were absorbed
	isPivot  []bool
	pivots   []int32
	late     []int32 // nodes with many neighbours

	// Variables in lists by degree.
	head, next, prev []int32
	least            int

	eliminated int
	mark       []int32 // of variables: whether they are in a set, by stamp
	stamp      int32
	outside    []int32 // of an element: outside − base is the size of what lies outside the new element
	base       int32
	buckets    map[uint64][]int32
	hashes     []uint64
}

func newQuotient(adj [][]int32) *quotient {
	n := len(adj)
	g := &quotient{
		n: n, adj: adj, elements: make([][]int32, n), size: make([]int32, n), degree: make([]int32, n),
		parent: make([]int32, n), dead: make([]bool, n), isPivot: make([]bool, n), head: make([]int32, n+1),
		next: make([]int32, n), prev: make([]int32, n), mark: make([]int32, n), outside: make([]int32, n),
		base: 1, buckets: map[uint64][]int32{},
	}
	many := max(16, int(10*math.Sqrt(float64(n))))
	for d := range g.head {
		g.head[d] = -1
	}
	for i := range n {
		g.size[i], g.parent[i] = 1, -1
	}
	for i := range n {
		if len(adj[i]) > many {
			g.late = append(g.late, int32(i))
			g.size[i] = 0
		}
	}
	g.eliminated = len(g.late)
	for i := n - 1; i >= 0; i-- {
		if g.size[i] > 0 {
			if len(g.late) > 0 {
				adj[i] = slices.DeleteFunc(adj[i], func(j int32) bool { return g.size[j] == 0 })
			}
			g.degree[i] = int32(len(adj[i]))
			g.insert(int32(i))
		}
	}
	return g
}

func (g *quotient) insert(i int32) {
	d := g.degree[i]
	g.prev[i], g.next[i] = -1, g.head[d]
	if g.head[d] >= 0 {
		g.prev[g.head[d]] = i
	}
	g.head[d] = i
	g.least = min(g.least, int(d))
}

func (g *quotient) remove(i int32) {
	if g.prev[i] >= 0 {
		g.next[g.prev[i]] = g.next[i]
	} else {
		g.head[g.degree[i]] = g.next[i]
	}
	if g.next[i] >= 0 {
		g.prev[g.next[i]] = g.prev[i]
	}
}

// pick takes a variable of least degree.
func (g *quotient) pick() int32 {
	for g.head[g.least] < 0 {
		g.least++
	}
	p := g.head[g.least]
	g.remove(p)
	return p
}

// eliminate makes an element of the variable p.
func (g *quotient) eliminate(p int32) {
	vars := g.absorb(p)
	covered := int32(0)
	for _, i := range vars {
		covered += g.size[i]
	}
	g.sizesOutside(vars)
	kept := vars[:0]
	clear(g.buckets)
	g.hashes = g.hashes[:0]
	for _, i := range vars {
		bound, hash := g.update(i, p)
		if bound == 0 { // beside nothing but p: it goes with p
			g.parent[i] = p
			covered -= g.size[i]
			g.size[p] += g.size[i]
			g.size[i] = 0
			continue
		}
		g.degree[i] = min(g.degree[i], bound)
		kept = append(kept, i)
		if len(g.buckets[hash]) == 0 {
			g.hashes = append(g.hashes, hash)
		}
		g.buckets[hash] = append(g.buckets[hash], i)
	}
	for _, hash := range g.hashes {
		g.merge(g.buckets[hash])
	}
	g.eliminated += int(g.size[p])
	vars = kept[:0]
	for _, i := range kept {
		if g.size[i] == 0 {
			continue
		}
		vars = append(vars, i)
		left := int32(g.n-g.eliminated) - g.size[i]
		g.degree[i] = min(g.degree[i]+covered-g.size[i], left)
		g.insert(i)
	}
	g.adj[p], g.degree[p] = vars, covered
	g.pivots = append(g.pivots, p)
	g.isPivot[p] = true
	g.size[p] = 0
}

// absorb returns the variables beside p, which are those of the new element, and marks them. The
// elements beside p are no longer needed.
func (g *quotient) absorb(p int32) []int32 {
	g.stamp++
	g.mark[p] = g.stamp
	var vars []int32
	add := func(list []int32) {
		for _, i := range list {
			if g.size[i] > 0 && g.mark[i] != g.stamp {
				g.mark[i] = g.stamp
				vars = append(vars, i)
				g.remove(i)
			}
		}
	}
	for _, e := range g.elements[p] {
		if !g.dead[e] {
			add(g.adj[e])
			g.dead[e], g.adj[e] = true, nil
		}
	}
	add(g.adj[p])
	g.elements[p] = nil
	return vars
}

// sizesOutside computes how much of each element beside the given variables lies outside of them.
func (g *quotient) sizesOutside(vars []int32) {
	g.base += int32(g.n) + 1
	if g.base > math.MaxInt32-2*int32(g.n)-2 {
		clear(g.outside)
		g.base = 1
	}
	for _, i := range vars {
		for _, e := range g.elements[i] {
			if g.dead[e] {
				continue
			}
			if g.outside[e] < g.base {
				g.outside[e] = g.base + g.degree[e]
			}
			g.outside[e] -= g.size[i]
		}
	}
}

// update puts the new element p into the lists of its variable i, without what p makes superfluous.
// It returns a bound for the degree of i outside of p, and a number that variables with equal lists
// share.
func (g *quotient) update(i, p int32) (bound int32, hash uint64) {
	elements := g.elements[i][:0]
	for _, e := range g.elements[i] {
		if g.dead[e] {
			continue
		}
		out := g.outside[e] - g.base
		if out == 0 { // p covers e
			g.dead[e], g.adj[e] = true, nil
			continue
		}
		bound += out
		elements = append(elements, e)
		hash += uint64(e) * 0x9e3779b97f4a7c15
	}
	g.elements[i] = append(elements, p)
	adj := g.adj[i][:0]
	for _, j := range g.adj[i] {
		if g.size[j] > 0 && g.mark[j] != g.stamp {
			bound += g.size[j]
			adj = append(adj, j)
			hash += uint64(j) * 0x9e3779b97f4a7c15
		}
	}
	g.adj[i] = adj
	return bound, hash
}

// merge makes one variable of those among the given ones that have equal lists.
func (g *quotient) merge(vars []int32) {
	for a, i := range vars {
		if g.size[i] == 0 || a == len(vars)-1 {
			continue
		}
		g.stamp++
		for _, e := range g.elements[i] {
			g.mark[e] = g.stamp
		}
		for _, j := range g.adj[i] {
			g.mark[j] = g.stamp
		}
		unmarked := func(k int32) bool { return g.mark[k] != g.stamp }
		for _, j := range vars[a+1:] {
			if g.size[j] == 0 || len(g.elements[j]) != len(g.elements[i]) || len(g.adj[j]) != len(g.adj[i]) ||
				slices.ContainsFunc(g.elements[j], unmarked) || slices.ContainsFunc(g.adj[j], unmarked) {
				continue
			}
			g.size[i] += g.size[j]
			g.size[j] = 0
			g.parent[j] = i
			g.adj[j], g.elements[j] = nil, nil
		}
	}
}

// order lists the nodes: each pivot, followed by those that it stands for.
func (g *quotient) order() []int32 {
	members := make([][]int32, g.n)
	for i := range g.n {
		top := int32(i)
		for !g.isPivot[top] && g.parent[top] >= 0 {
			top = g.parent[top]
		}
		if top != int32(i) {
			members[top] = append(members[top], int32(i))
		}
	}
	order := make([]int32, 0, g.n)
	for _, p := range g.pivots {
		order = append(append(order, p), members[p]...)
	}
	return append(order, g.late...)
}

// manyNodes is a number of nodes from which on elimination has panels that are worth while. Fewer ones have machine
// code, which does without.
const manyNodes = 256

// eliminationOrder orders the nodes of a graph for elimination. The slices of adj are overwritten.
func eliminationOrder(adj [][]int32) []int32 {
	if len(adj) < manyNodes {
		return minimumDegree(adj)
	}
	graph := make([][]int32, len(adj))
	for i, a := range adj {
		graph[i] = slices.Clone(a)
	}
	return postorder(graph, minimumDegree(adj))
}

// postorder returns another order of elimination of the same graph with the same fill, in which what is eliminated
// into one node stands right before it: columns with equal patterns become neighbours. (J. W. H. Liu, The role of
// elimination trees in sparse factorization, SIAM J. Matrix Anal. Appl. 11, 1990.)
func postorder(adj [][]int32, order []int32) []int32 {
	n := len(order)
	place, parent, ancestor := make([]int32, n), make([]int32, n), make([]int32, n)
	for k, i := range order {
		place[i] = int32(k)
	}
	for k, i := range order {
		parent[k], ancestor[k] = -1, -1
		for _, j := range adj[i] {
			for at := place[j]; at < int32(k); {
				next := ancestor[at]
				if ancestor[at] = int32(k); next < 0 {
					parent[at] = int32(k)
					break
				}
				at = next
			}
		}
	}
	// The children of a node, the first one last.
	child, sibling := make([]int32, n), make([]int32, n)
	for k := range child {
		child[k] = -1
	}
	roots := int32(-1)
	for k := range n {
		at := &roots
		if parent[k] >= 0 {
			at = &child[parent[k]]
		}
		sibling[k], *at = *at, int32(k)
	}
	out := make([]int32, n)
	stack := []int32{}
	for k := roots; k >= 0; k = sibling[k] {
		stack = append(stack, k)
	}
	// A node comes after its children: the reverse lists it before them.
	slices.Reverse(stack)
	at := n
	for len(stack) > 0 {
		k := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		at--
		out[at] = order[k]
		for c := child[k]; c >= 0; c = sibling[c] {
			stack = append(stack, c)
		}
	}
	return out
}
