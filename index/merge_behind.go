package index

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// mergeBehind is the merge of an entity whose new records all come behind those that are stored, and whose chunks stay
// within the caps: the usual insert. Its sources and paths are then the stored ones and the new ones, so that the
// records that name it as the end of a relation, mostly twice as many as those that describe it, are not read. ok is
// false when that does not hold, and everything has to be read.
func (p *Pipeline) mergeBehind(h *history, e *edit, old *record.Tally, members []record.Object) (m merged, ok bool, err error) {
	caps := p.cfg.Options.caps()
	stored := e.entity
	if stored == nil || len(e.removed) > 0 || len(members) != 1 || old.Rules != p.rules || e.tally.Loose > 0 ||
		old.Chunks != len(stored.Sources) || e.tally.Chunks >= caps.Sources {
		return m, false, nil
	}
	described, named := ofKind(e.added, record.KindEntity), ofKind(e.added, record.KindEndpoint)
	sources, paths := provenance(Caps{Sources: caps.Sources, Paths: caps.Sources}, described, named)
	paths = slices.DeleteFunc(paths, func(path string) bool { return slices.Contains(stored.Paths, path) })
	if len(stored.Paths)+len(paths) > caps.Paths {
		return m, false, nil
	}
	first := firstMark(described, named)
	if before, err := h.allBefore(record.KindEndpoint, members[0], old.Endpoints, first); err != nil || !before {
		return m, false, err
	}
	records, _, err := h.only(old.Records).within(record.KindEntity, members[0], described, caps.Sources, false)
	if err != nil {
		return m, false, err
	}
	if n := len(records) - len(described); n > 0 && records[n-1].Mark().Compare(first) >= 0 {
		return m, false, nil
	}
	texts := records
	if len(records) == 0 {
		if texts, _, err = h.only(old.Endpoints).within(record.KindEndpoint, members[0], named, 1, false); err != nil {
			return m, false, err
		}
		texts = texts[:1]
	}
	e.tally.RecordsEnd, e.tally.EndpointsEnd = record.Mark{}, record.Mark{} // the caps are not reached
	return merged{
		typ: vote(e.tally.Types, records), count: e.tally.Chunks, fragments: fragments(texts),
		sources: slices.Concat(stored.Sources, sources), paths: slices.Concat(stored.Paths, paths),
	}, true, nil
}

// firstMark returns the first chunk of two lists in order, which are not both empty.
func firstMark(a, b []record.Source) record.Mark {
	if len(a) == 0 || len(b) > 0 && b[0].Mark().Compare(a[0].Mark()) < 0 {
		a = b
	}
	return a[0].Mark()
}

// allBefore reports whether the records of a kind about o, of which so many are stored, lie before a chunk. It looks at
// the last one.
func (h *history) allBefore(k record.Kind, o record.Object, stored int, first record.Mark) (bool, error) {
	if stored == 0 {
		return true, nil
	}
	c, err := h.cursor(k)
	if err != nil {
		return false, err
	}
	prefix := record.SourcePrefix(h.ws, k, o)
	if !c.SeekLT(codec.PrefixEnd(prefix)) || !bytes.HasPrefix(c.Key(), prefix) {
		return false, c.Err()
	}
	last, err := record.ParsePosition(c.Key()[len(prefix):])
	if err != nil {
		return false, fmt.Errorf("%w: source of %v: %w", kv.ErrCorrupt, o, err)
	}
	return last.Mark().Compare(first) < 0, nil
}
