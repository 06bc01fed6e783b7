package token

import (
	"sync"
	"unicode/utf8"
)

// Byte pair merging: start with single bytes; again and again join the neighbours whose union has the lowest
// rank in the vocabulary, the leftmost of equals; stop when no union is a token.
//
// Both ways below do exactly that. The simple one scans for the minimum (quadratic, fastest for words), the
// other keeps the candidates in a heap (n log n) over a linked list of parts.

// smallPiece is the longest pre-token in bytes that is merged by scanning. Of the pre-tokens of English and
// Chinese prose that are not tokens themselves, all but a few in a thousand are shorter.
const smallPiece = 128

// maxPiece is the longest piece in bytes that is merged as one. Longer pre-tokens (base64, a page of Chinese
// without punctuation) are cut into pieces of this size at character borders, each of which may cost a
// token or two more than the whole would have: a few in ten thousand, for which time stays linear and the
// scratch memory in the processor's cache.
const maxPiece = 1 << 13

// cutPiece returns how much of a pre-token to merge as one.
func cutPiece(piece string) int {
	if len(piece) <= maxPiece {
		return len(piece)
	}
	for n := maxPiece; n > maxPiece-utf8.UTFMax; n-- {
		if utf8.RuneStart(piece[n]) {
			return n
		}
	}
	return maxPiece // not UTF-8
}

// part is a run of bytes that is one token so far.
type part struct {
	start int32
	rank  uint32 // of the union with the next part; noToken when that is no token
}

// countPiece returns the number of tokens of a pre-token.
func (v *vocabulary) countPiece(piece string) int {
	if v.lookup(piece) != noToken {
		return 1
	}
	if len(piece) <= smallPiece {
		var buf [smallPiece + 1]part
		return len(v.mergeSmall(buf[:0], piece)) - 1
	}
	m := mergers.Get().(*merger)
	defer mergers.Put(m)
	count := 0
	for len(piece) > 0 {
		n := cutPiece(piece)
		count += m.merge(v, piece[:n])
		piece = piece[n:]
	}
	return count
}

// appendPiece appends the tokens of a pre-token.
func (v *vocabulary) appendPiece(dst []int, piece string) []int {
	if id := v.lookup(piece); id != noToken {
		return append(dst, int(id))
	}
	if len(piece) <= smallPiece {
		var buf [smallPiece + 1]part
		parts := v.mergeSmall(buf[:0], piece)
		for i := range len(parts) - 1 {
			dst = append(dst, int(v.lookup(piece[parts[i].start:parts[i+1].start])))
		}
		return dst
	}
	m := mergers.Get().(*merger)
	defer mergers.Put(m)
	for len(piece) > 0 {
		n := cutPiece(piece)
		m.merge(v, piece[:n])
		for i := int32(0); int(i) < n; i = m.end(i) {
			dst = append(dst, int(v.lookup(piece[i:m.end(i)])))
		}
		piece = piece[n:]
	}
	return dst
}

// mergeSmall appends the parts of piece and one that marks its end to parts.
func (v *vocabulary) mergeSmall(parts []part, piece string) []part {
	for i := range len(piece) {
		parts = append(parts, part{start: int32(i), rank: noToken})
		if i+2 <= len(piece) {
			parts[i].rank = v.lookup(piece[i : i+2])
		}
	}
	parts = append(parts, part{start: int32(len(piece)), rank: noToken})
	// union is the rank of part i joined with the two behind it: what i's own rank is to be once i and i+1
	// are one.
	union := func(i int) uint32 {
		if i+3 >= len(parts) {
			return noToken
		}
		return v.lookup(piece[parts[i].start:parts[i+3].start])
	}
	for {
		best, at := uint32(noToken), -1
		for i := range len(parts) - 1 {
			if parts[i].rank < best {
				best, at = parts[i].rank, i
			}
		}
		if at < 0 {
			return parts
		}
		parts[at].rank = union(at)
		if at > 0 {
			parts[at-1].rank = union(at - 1)
		}
		parts = append(parts[:at+1], parts[at+2:]...)
	}
}

// merger is the scratch memory of long merges, at most some 20 bytes for each of maxPiece.
type merger struct {
	nodes []node
	heap  []candidate
}

// node i is the part that starts at byte i; bytes inside a part have dead nodes.
type node struct {
	prev, size int32 // size 0: dead
	rank       uint32
}

// candidate is a union that may be made: its rank, then the start of its first part, so that numbers order as the
// merges do. It is stale when the node's rank has changed since.
type candidate uint64

func newCandidate(rank uint32, at int32) candidate {
	return candidate(rank)<<32 | candidate(at)
}

var mergers = sync.Pool{New: func() any { return new(merger) }}

func (m *merger) end(i int32) int32 { return i + m.nodes[i].size }

// merge leaves the parts in m.nodes and returns their number.
func (m *merger) merge(v *vocabulary, piece string) int {
	n := int32(len(piece))
	m.nodes, m.heap = m.nodes[:0], m.heap[:0]
	for i := range n {
		rank := uint32(noToken)
		if i+2 <= n {
			rank = v.lookup(piece[i : i+2])
		}
		m.nodes = append(m.nodes, node{prev: i - 1, size: 1, rank: rank})
		if rank != noToken {
			m.heap = append(m.heap, newCandidate(rank, i))
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	parts := int(n)
	for len(m.heap) > 0 {
		c := m.pop()
		i, rank := int32(uint32(c)), uint32(c>>32)
		at := &m.nodes[i]
		if at.size == 0 || at.rank != rank {
			continue
		}
		next := i + at.size
		at.size += m.nodes[next].size
		m.nodes[next].size = 0
		if end := m.end(i); end < n {
			m.nodes[end].prev = i
		}
		parts--
		m.rerank(v, piece, i)
		if at.prev >= 0 {
			m.rerank(v, piece, at.prev)
		}
	}
	return parts
}

// rerank looks the union of part i and its successor up again.
func (m *merger) rerank(v *vocabulary, piece string, i int32) {
	rank := uint32(noToken)
	if end := m.end(i); int(end) < len(piece) {
		rank = v.lookup(piece[i:m.end(end)])
	}
	m.nodes[i].rank = rank
	if rank != noToken {
		m.push(newCandidate(rank, i))
	}
}

func (m *merger) push(c candidate) {
	m.heap = append(m.heap, c)
	i := len(m.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if c >= m.heap[up] {
			break
		}
		m.heap[i] = m.heap[up]
		i = up
	}
	m.heap[i] = c
}

func (m *merger) pop() candidate {
	top, last := m.heap[0], len(m.heap)-1
	m.heap[0] = m.heap[last]
	m.heap = m.heap[:last]
	if last > 0 {
		m.down(0)
	}
	return top
}

func (m *merger) down(i int) {
	c := m.heap[i]
	for {
		child := 2*i + 1
		if child >= len(m.heap) {
			break
		}
		if r := child + 1; r < len(m.heap) && m.heap[r] < m.heap[child] {
			child = r
		}
		if m.heap[child] >= c {
			break
		}
		m.heap[i] = m.heap[child]
		i = child
	}
	m.heap[i] = c
}
