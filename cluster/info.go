package cluster

import (
	"slices"
	"time"

	"github.com/glimdb/db/kv"
)

// Info describes a generation as it is now.
type Info struct {
	Generation uint64 `json:"generation"`
	// Data is the commit whose chunks were clustered, LSN the last one that is taken in.
	Data    kv.LSN    `json:"data"`
	LSN     kv.LSN    `json:"lsn"`
	BuiltAt time.Time `json:"built_at,omitzero"`
	// Took is how long it took to cluster, describe and measure; Bytes is about the memory of the clusters beside the
	// vectors.
	Took  time.Duration `json:"took_ns"`
	Bytes int64         `json:"bytes"`
	Model string        `json:"model"`
	Dim   int           `json:"dim"`
	// Summarizer names what describes the clusters; empty: nothing does.
	Summarizer string `json:"summarizer,omitempty"`
	Chunks     int    `json:"chunks"`
	Trained    int    `json:"trained"` // chunks when it was built
	// Always is the number of chunks that belong to no cluster and are always searched.
	Always  int     `json:"always"`
	Options Options `json:"options"`
	Quality Quality `json:"quality"`
	// Pays: routing is worth it, as Quality measures it.
	Pays   bool   `json:"pays"`
	Limits Limits `json:"limits"`
	// Monitored is how much routed questions find, where a sample of them is watched; nil: nothing is known.
	Monitored *Monitored `json:"monitored,omitempty"`
	// Due is what Tend has to do.
	Due      []string `json:"due"`
	Clusters []Topic  `json:"clusters"`
}

// Topic describes a cluster.
type Topic struct {
	ID       uint32    `json:"id"`
	Size     int       `json:"size"`
	Title    string    `json:"title"` // its first keywords
	Summary  string    `json:"summary"`
	Keywords []Keyword `json:"keywords"`
	// Representatives are ids of chunks that speak for it.
	Representatives []string `json:"representatives"`
	Spread          float64  `json:"spread"` // mean squared distance from the mean, vectors of length one
	Radius          float64  `json:"radius"` // within which 95 % were when it was described, as 1 − cosine
	// Trusted: questions are compared with the summary, too, not only with the mean.
	Trusted bool `json:"trusted"`
	Dirty   bool `json:"dirty"` // the description is outdated
}

// Info describes the generation, its clusters in order of id.
func (n *Navigation) Info() Info {
	h := n.head
	i := Info{Generation: h.Generation, Data: h.Data, LSN: n.lsn, BuiltAt: time.Unix(h.BuiltAt, 0).UTC(), Took: time.Duration(h.Took), Bytes: n.bytes(),
		Model: h.Model, Dim: h.Dim,
		Summarizer: h.Summarizer, Chunks: n.total, Trained: h.Trained, Options: h.Options, Quality: h.Quality, Pays: h.Quality.Pays(),
		Limits: h.Limits.WithDefaults(), Monitored: n.Monitored(), Due: []string{}, Clusters: []Topic{}}
	for _, d := range n.due().list {
		i.Due = append(i.Due, d.String())
	}
	for _, c := range n.clusters {
		switch {
		case c == nil:
		case c.ID == alwaysSearched:
			i.Always = c.Size
		default:
			i.Clusters = append(i.Clusters, Topic{ID: c.ID, Size: c.Size, Title: titleOf(c.note.Keywords), Summary: c.note.Summary,
				Keywords: orEmpty(c.note.Keywords), Representatives: orEmpty(c.note.Representatives), Spread: c.spread,
				Radius: c.note.Radius, Trusted: c.note.Trusted, Dirty: c.dirty})
		}
	}
	return i
}

// memberBytes is what a chunk takes in the lists of members.
const memberBytes = 12

// bytes is about the memory of the clusters: sums, vectors, descriptions and lists of members.
func (n *Navigation) bytes() int64 {
	size := memberBytes * n.total
	for _, c := range n.clusters {
		if c == nil {
			continue
		}
		d := c.note
		size += 8*len(c.sum) + 4*(len(c.mean)+len(d.Mean)+len(d.Vector)) + len(d.Summary)
		for _, k := range d.Keywords {
			size += len(k.Term) + len(k.Word) + 8
		}
		for _, id := range d.Representatives {
			size += len(id)
		}
	}
	return int64(size)
}

func orEmpty[T any](list []T) []T { return append([]T{}, list...) }

// Members lists the ids of the chunks in a cluster that r shows, in order.
func (n *Navigation) Members(r kv.Reader, id uint32) []string {
	out := []string{}
	for _, m := range n.cells.Members(r, id) {
		out = append(out, m.ID)
	}
	slices.Sort(out)
	return out
}
