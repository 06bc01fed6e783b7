package graph

import "slices"

// bounded keeps the best limit elements of a stream; limit 0 keeps all. The zero value with before set
// is ready to use.
type bounded[T any] struct {
	limit  int
	before func(x, y T) bool // x ranks before y; a total order
	heap   []T               // the worst kept element is heap[0] once limit elements are kept
	seen   int
}

func (b *bounded[T]) push(x T) {
	b.seen++
	switch {
	case b.limit == 0:
		b.heap = append(b.heap, x)
	case len(b.heap) < b.limit:
		b.heap = append(b.heap, x)
		for i := len(b.heap) - 1; i > 0; {
			up := (i - 1) / 2
			if !b.before(b.heap[up], b.heap[i]) {
				break
			}
			b.heap[up], b.heap[i] = b.heap[i], b.heap[up]
			i = up
		}
	case b.before(x, b.heap[0]):
		b.heap[0] = x
		for i := 0; ; {
			worst, left := i, 2*i+1
			for child := left; child <= left+1 && child < len(b.heap); child++ {
				if b.before(b.heap[worst], b.heap[child]) {
					worst = child
				}
			}
			if worst == i {
				break
			}
			b.heap[i], b.heap[worst] = b.heap[worst], b.heap[i]
			i = worst
		}
	}
}

// sorted returns what was kept, best first, and ends the use of b.
func (b *bounded[T]) sorted() []T {
	slices.SortFunc(b.heap, func(x, y T) int {
		switch {
		case b.before(x, y):
			return -1
		case b.before(y, x):
			return 1
		}
		return 0
	})
	return b.heap
}
