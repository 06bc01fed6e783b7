package record

import (
	"math"
	"time"

	"github.com/glimdb/db/internal/codec"
	"github.com/glimdb/db/internal/space"
)

// Status is where a document stands. The values are on disk.
type Status byte

// The statuses of a document.
const (
	// StatusPending: enqueued, not begun.
	StatusPending Status = 1
	// StatusProcessing: begun and not ended; after a reopen it means interrupted, and is picked up again.
	StatusProcessing Status = 2
	// StatusProcessed: its effects are visible.
	StatusProcessed Status = 3
	// StatusFailed: the last attempt ended with an error; only a retry or a new Put tries again.
	StatusFailed Status = 4
)

// String names the status.
func (s Status) String() string {
	switch s {
	case StatusPending:
		return "pending"
	case StatusProcessing:
		return "processing"
	case StatusProcessed:
		return "processed"
	case StatusFailed:
		return "failed"
	}
	return "unknown"
}

// Statuses are the names of all, in the order of a document's life.
func Statuses() []string {
	all := make([]string, 0, StatusFailed)
	for s := StatusPending; s <= StatusFailed; s++ {
		all = append(all, s.String())
	}
	return all
}

// Version is one text of a document.
type Version struct {
	// Rev tells versions apart: the commit that enqueued it. Not part of the logical state.
	Rev uint64
	// Hash is the SHA-256 of the text, in hex.
	Hash     string
	Path     string
	Metadata Metadata
	// Time is the document's own time, in UTC; zero means none.
	Time time.Time
	// Bytes is the length of the text; Removed counts characters and bytes that cleaning took out.
	Bytes, Removed int
	// Track is the id of the enqueue call; EnqueuedAt its time in Unix nanoseconds. Volatile.
	Track      string
	EnqueuedAt int64
	// Priority is its place in the queue before others: higher goes first. Volatile.
	Priority int8
	// Chunker says how the text is cut, as it was fixed at enqueue: a chunk.Spec in JSON; empty: by the options.
	Chunker string
	// Spans are the chunks that came with the text, while the version waits.
	Spans []Span
}

// Span is a chunk that the caller cut.
type Span struct {
	Start   int    `json:"start"` // bytes of the stored text
	End     int    `json:"end"`
	Context string `json:"context,omitempty"`
}

// Contents counts what the visible version of a document put into the store.
type Contents struct {
	Chunks    int `json:"chunks,omitempty"`
	Entities  int `json:"entities,omitempty"`  // distinct names, ends of relations included
	Relations int `json:"relations,omitempty"` // distinct pairs
	// Dropped counts records that were not used, by reason; Repaired damage that was made good, by kind.
	Dropped  []Count `json:"dropped,omitempty"`
	Repaired []Count `json:"repaired,omitempty"`
	// Truncated is the number of chunks whose reply was cut off, Unusable of those whose reply was of no use.
	Truncated int      `json:"truncated,omitempty"`
	Unusable  int      `json:"unusable,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
}

// Incomplete reports whether records may be missing, so that processing the same text again may find more.
func (c *Contents) Incomplete() bool { return c.Truncated+c.Unusable > 0 }

// Attempts tells of the work on a document. All of it is volatile.
type Attempts struct {
	// Tries counts attempts since the version was enqueued.
	Tries int `json:"tries,omitempty"`
	// Error is the reason of the last failure; empty otherwise.
	Error string `json:"error,omitempty"`
	// StartedAt and EndedAt are those of the last attempt, in Unix nanoseconds.
	StartedAt int64 `json:"started_at,omitempty"`
	EndedAt   int64 `json:"ended_at,omitempty"`
	// Stages are the nanoseconds spent, by stage.
	Stages []Count64 `json:"stages,omitempty"`
	// ReusedChunks were taken over from the version before, without a call.
	ReusedChunks int `json:"reused_chunks,omitempty"`
	// Model use of the last attempt.
	Calls            int `json:"calls,omitempty"`
	CachedCalls      int `json:"cached_calls,omitempty"`
	PromptTokens     int `json:"prompt_tokens,omitempty"`
	CompletionTokens int `json:"completion_tokens,omitempty"`
	// EmbeddedTexts were handed to the embedder (which may have cached them).
	EmbeddedTexts int `json:"embedded_texts,omitempty"`
}

// ModelUse is what one model was used for on behalf of a document. Volatile.
type ModelUse struct {
	Model            string `json:"model"`
	Purpose          string `json:"purpose"`
	Calls            int    `json:"calls,omitempty"`
	CachedCalls      int    `json:"cached_calls,omitempty"`
	PromptTokens     int    `json:"prompt_tokens,omitempty"`
	CompletionTokens int    `json:"completion_tokens,omitempty"`
}

// Count64 is a Count that may be large.
type Count64 struct {
	Name string `json:"name"`
	N    int64  `json:"n"`
}

// Document is the status record of a document.
type Document struct {
	ID string
	// Seq is its place in the order of enqueue, kept when it is replaced.
	Seq    uint64
	Status Status
	// Current is the visible version, nil when there is none; Pending the one to be processed.
	Current, Pending *Version
	Contents         Contents
	Attempts         Attempts
	// CreatedAt is when the id was first enqueued, UpdatedAt when the current version became visible, in Unix
	// nanoseconds; 0: not yet. Volatile.
	CreatedAt, UpdatedAt int64
	// Spent is what models were used for in all attempts since, by model and purpose. Volatile.
	Spent []ModelUse
}

// Waits reports whether the document has a place in the queue.
func (d *Document) Waits() bool {
	return d.Pending != nil && (d.Status == StatusPending || d.Status == StatusProcessing)
}

// DocumentPrefix covers all documents of a workspace, by id.
func DocumentPrefix(ws string) []byte { return space.In(ws, space.Document) }

// DocumentsPrefix covers the documents of a workspace whose ids begin with idPrefix, by id.
func DocumentsPrefix(ws, idPrefix string) []byte {
	key := DocumentKey(ws, idPrefix)
	return key[:len(key)-len(codec.AppendKeyString(nil, ""))] // without the end mark: ids that go on
}

// DocumentKey is the key of one document.
func DocumentKey(ws, id string) []byte { return codec.AppendKeyString(DocumentPrefix(ws), id) }

// ParseDocumentKey reads what follows DocumentPrefix in a key.
func ParseDocumentKey(rest []byte) (id string, err error) { return wholeString(rest) }

func wholeString(rest []byte) (string, error) {
	s, rest, err := codec.KeyString(rest)
	if err == nil && len(rest) > 0 {
		err = codec.ErrCorrupt
	}
	return s, err
}

// Slots of a document's texts.
const (
	slotCurrent byte = 'c'
	slotPending byte = 'p'
)

// TextKey is where the visible (or, when pending is set, the unprocessed) text is stored.
func TextKey(ws, id string, pending bool) []byte {
	slot := slotCurrent
	if pending {
		slot = slotPending
	}
	return append(codec.AppendKeyString(space.In(ws, space.Text), id), slot)
}

// ParseTextKey reads what follows space.Text in a key.
func ParseTextKey(rest []byte) (id string, pending bool, err error) {
	id, rest, err = codec.KeyString(rest)
	if err != nil {
		return "", false, err
	}
	if len(rest) != 1 || (rest[0] != slotCurrent && rest[0] != slotPending) {
		return "", false, codec.ErrCorrupt
	}
	return id, rest[0] == slotPending, nil
}

// Kinds of keys in space.Sequence.
const (
	sequenceNext  byte = 'n'
	sequenceQueue byte = 'q'
)

// NextKey holds the sequence number of the next document.
func NextKey(ws string) []byte { return append(space.In(ws, space.Sequence), sequenceNext) }

// QueuePrefix covers the unprocessed documents, by falling priority, then by sequence. The value is the id.
func QueuePrefix(ws string) []byte { return append(space.In(ws, space.Sequence), sequenceQueue) }

// QueueKey is one document's place in the queue.
func QueueKey(ws string, priority int8, seq uint64) []byte {
	return codec.AppendKeyUint64(append(QueuePrefix(ws), byte(math.MaxInt8-int(priority))), seq)
}

// ParseQueueKey reads what follows QueuePrefix in a key.
func ParseQueueKey(rest []byte) (priority int8, seq uint64, err error) {
	if len(rest) == 0 {
		return 0, 0, codec.ErrCorrupt
	}
	priority = int8(math.MaxInt8 - int(rest[0]))
	seq, rest, err = codec.KeyUint64(rest[1:])
	if err == nil && len(rest) > 0 {
		err = codec.ErrCorrupt
	}
	return priority, seq, err
}

// QueueKey is the document's place in the queue; it must have a pending version.
func (d *Document) QueueKey(ws string) []byte { return QueueKey(ws, d.Pending.Priority, d.Seq) }

// TrackPrefix covers the documents of one enqueue call, by sequence. The value is the id.
func TrackPrefix(ws, track string) []byte {
	return codec.AppendKeyString(space.In(ws, space.Track), track)
}

// TrackKey is one document's entry under its track.
func TrackKey(ws, track string, seq uint64) []byte {
	return codec.AppendKeyUint64(TrackPrefix(ws, track), seq)
}

// ParseTrackKey reads what follows space.Track in a key.
func ParseTrackKey(rest []byte) (track string, seq uint64, err error) {
	if track, rest, err = codec.KeyString(rest); err != nil {
		return "", 0, err
	}
	seq, rest, err = codec.KeyUint64(rest)
	if err == nil && len(rest) > 0 {
		err = codec.ErrCorrupt
	}
	return track, seq, err
}

// HashPrefix covers the documents with one content hash, by id.
func HashPrefix(ws, hash string) []byte {
	return codec.AppendKeyString(space.In(ws, space.Hash), hash)
}

// HashKey is one document's entry under its content hash.
func HashKey(ws, hash, id string) []byte { return codec.AppendKeyString(HashPrefix(ws, hash), id) }

// ParseHashKey reads what follows space.Hash in a key.
func ParseHashKey(rest []byte) (hash, id string, err error) {
	if hash, rest, err = codec.KeyString(rest); err != nil {
		return "", "", err
	}
	id, err = wholeString(rest)
	return hash, id, err
}

// ContribKey holds the objects a document's visible version speaks of.
func ContribKey(ws, id string) []byte {
	return codec.AppendKeyString(space.In(ws, space.Contrib), id)
}

// ParseContribKey reads what follows space.Contrib in a key.
func ParseContribKey(rest []byte) (id string, err error) { return wholeString(rest) }
