package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/glimdb/db/index/chunk"
	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/record"
	"github.com/glimdb/db/kv"
)

// IsEntry reports whether kind is one that Export yields.
func IsEntry(kind string) bool {
	return slices.Contains([]string{EntryDocument, EntryText, EntryChunk, EntrySource, EntryTally, EntryDecision}, kind)
}

// Import stages one entry of Export, in JSON, into b. Entries must come in the order of Export, into a
// workspace without documents; they may be spread over any number of batches. What the loaded state is
// worth is for Check to say once graph and vectors are loaded as well.
func Import(b *kv.Batch, ws, kind string, value []byte) error {
	if err := importEntry(b, ws, kind, value); err != nil {
		return fmt.Errorf("index: import %s: %w", kind, err)
	}
	return nil
}

func importEntry(b *kv.Batch, ws, kind string, value []byte) error {
	switch kind {
	case EntryDocument:
		var e ExportedDocument
		if err := json.Unmarshal(value, &e); err != nil {
			return err
		}
		return importDocument(b, ws, &e)
	case EntryText:
		var e ExportedText
		if err := json.Unmarshal(value, &e); err != nil {
			return err
		}
		return b.SetText(record.TextKey(ws, e.Doc, e.Pending), []byte(e.Text))
	case EntryChunk:
		var c record.Chunk
		if err := json.Unmarshal(value, &c); err != nil {
			return err
		}
		return b.SetText(record.ChunkKey(ws, c.Doc, c.Order), c.Encode())
	case EntrySource:
		var e ExportedSource
		if err := json.Unmarshal(value, &e); err != nil {
			return err
		}
		return importSource(b, ws, &e)
	case EntryTally:
		var e ExportedTally
		if err := json.Unmarshal(value, &e); err != nil {
			return err
		}
		o, err := importObject(e.Object)
		if err != nil {
			return err
		}
		t := record.Tally{Version: uint64(b.LSN()) + 1, Records: e.Records, Endpoints: e.Endpoints, Chunks: e.Chunks, Loose: e.Loose,
			Weight: record.Weight(e.Weight), Types: e.Types, Digest: e.Digest, RecordsEnd: importMark(e.RecordsEnd),
			EndpointsEnd: importMark(e.EndpointsEnd), Rules: e.Rules}
		return b.Set(record.TallyKey(ws, o), t.Encode())
	case EntryDecision:
		var e ExportedDecision
		if err := json.Unmarshal(value, &e); err != nil {
			return err
		}
		o, err := importObject(e.Object)
		if err != nil {
			return err
		}
		m := &record.Manual{AliasOf: e.AliasOf, Aliases: e.Aliases, Deleted: e.Deleted, Set: e.Set}
		return errors.Join(putDecision(b, ws, o, m), countEdit(b, ws))
	}
	return fmt.Errorf("%w: unknown kind", errEntry)
}

var errEntry = errors.New("not an entry of an export")

func importObject(names []string) (record.Object, error) {
	switch {
	case len(names) == 1 && names[0] != "":
		return record.EntityObject(names[0]), nil
	case len(names) == 2 && names[0] != "" && names[0] < names[1]:
		return record.Object{A: names[0], B: names[1]}, nil
	}
	return record.Object{}, fmt.Errorf("%w: %q names no object", errEntry, names)
}

func importSource(b *kv.Batch, ws string, e *ExportedSource) error {
	o, err := importObject(e.Object)
	if err != nil {
		return err
	}
	s := record.Source{Object: o, Position: record.Position{Seq: seqOf(e.Rank), Order: importOrder(e.Order), Record: e.Record}, Doc: e.Doc, Path: e.Path,
		Type: e.Type, Description: e.Description, Keywords: e.Keywords, Weight: record.Weight(e.Weight), Reversed: e.Reversed}
	for k, name := range kindNames {
		if name == e.Kind {
			s.Kind = k
		}
	}
	if s.Kind == 0 || o.IsRelation() != (s.Kind == record.KindRelation) {
		return fmt.Errorf("%w: source of kind %q about %q", errEntry, e.Kind, e.Object)
	}
	return b.Set(s.Key(ws), s.Encode())
}

func importMark(m *[2]int) record.Mark {
	if m == nil {
		return record.Mark{}
	}
	return record.Mark{Seq: seqOf(m[0]), Order: importOrder(m[1])}
}

func importOrder(order int) int {
	if order == noChunk {
		return record.NoChunk
	}
	return order
}

// seqOf is the sequence of a rank in a loaded store.
func seqOf(rank int) uint64 { return uint64(rank) + 1 }

func importDocument(b *kv.Batch, ws string, e *ExportedDocument) error {
	d := &record.Document{ID: e.ID, Seq: seqOf(e.Rank)}
	for _, s := range []record.Status{record.StatusPending, record.StatusProcessing, record.StatusProcessed, record.StatusFailed} {
		if s.String() == e.Status {
			d.Status = s
		}
	}
	if d.Status == 0 || e.ID == "" || e.Rank < 0 {
		return fmt.Errorf("%w: document %q with status %q and rank %d", errEntry, e.ID, e.Status, e.Rank)
	}
	vol := e.Volatile
	if vol == nil {
		vol = &Volatile{}
	}
	rev := uint64(b.LSN()) + 1
	var err error
	if d.Current, err = importVersion(e.Current, rev, vol.CurrentTrack, vol.CurrentEnqueued); err != nil {
		return err
	}
	if d.Pending, err = importVersion(e.Pending, rev, vol.PendingTrack, vol.PendingEnqueued); err != nil {
		return err
	}
	if d.Pending != nil {
		d.Pending.Priority = vol.Priority
	}
	d.Attempts, d.CreatedAt, d.UpdatedAt, d.Spent = vol.Attempts, vol.CreatedAt, vol.UpdatedAt, vol.Spent
	if e.Contents != nil {
		d.Contents = *e.Contents
	}
	for _, v := range []*record.Version{d.Current, d.Pending} {
		if v == nil {
			continue
		}
		if err := addIndex(b, ws, d, v); err != nil {
			return err
		}
	}
	if d.Waits() {
		if err := b.Set(d.QueueKey(ws), []byte(d.ID)); err != nil {
			return err
		}
	}
	if d.Current != nil {
		objects := make([]record.Object, 0, len(e.Objects))
		for _, names := range e.Objects {
			o, err := importObject(names)
			if err != nil {
				return err
			}
			objects = append(objects, o)
		}
		if err := b.SetText(record.ContribKey(ws, d.ID), record.EncodeObjects(objects)); err != nil {
			return err
		}
	}
	if err := b.Set(record.NextKey(ws), codec.AppendKeyUint64(nil, d.Seq+1)); err != nil {
		return err
	}
	return putDocument(b, ws, d)
}

func importVersion(e *ExportedVersion, rev uint64, track string, enqueued int64) (*record.Version, error) {
	if e == nil {
		return nil, nil
	}
	spec, err := chunk.ParseSpec(string(e.Chunking))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errEntry, err)
	}
	return &record.Version{Rev: rev, Hash: e.Hash, Path: e.Path, Metadata: e.Metadata, Time: e.Time.UTC(), Bytes: e.Bytes,
		Removed: e.Removed, Track: track, EnqueuedAt: enqueued, Chunker: spec.String(), Spans: e.Spans}, nil
}
