package llm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
)

// ByteStore is where the caches keep their entries. Both methods must be safe for concurrent use; neither side
// keeps or changes the other's slices.
type ByteStore interface {
	// Get returns the value and true, or false when there is none.
	Get(ctx context.Context, key string) ([]byte, bool, error)
	// Put stores what was paid for: it should try to when ctx has ended, too, but not for long then, because
	// a caller waits that has given up.
	Put(ctx context.Context, key string, value []byte) error
}

// BatchStore is a ByteStore that stores several entries at the price of one. CacheEmbedder makes use of it.
type BatchStore interface {
	ByteStore
	// PutMany stores values[i] under keys[i], all of them or none. Of ctx it thinks like Put.
	PutMany(ctx context.Context, keys []string, values [][]byte) error
}

// CacheOptions are those of Cache and CacheEmbedder. The zero value is the default.
type CacheOptions struct {
	// Logger is told when an entry could not be stored; the reply is delivered all the same. Default silent.
	Logger *slog.Logger
}

func (o CacheOptions) withDefaults() CacheOptions {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// keyVersion is part of every key: entries of another form are not found, instead of misread.
const keyVersion = "1"

// CacheKey returns the key of a request to the model with this ID: the purpose (so that one kind of entry can
// be found by prefix), a slash and 128 bits of SHA-256 over the length-prefixed ID, roles and contents of the
// messages, JSON flag and schema, MaxTokens and temperature. Purpose apart, calls that a model cannot tell apart have one
// key. Subject is no part of it.
func CacheKey(modelID string, req Request) string {
	h := newKeyHash()
	h.text(modelID)
	h.number(uint64(len(req.Messages)))
	for _, m := range req.Messages {
		h.text(string(m.Role))
		h.text(m.Content)
	}
	flags := uint64(0)
	if req.JSON {
		flags |= 1
	}
	if req.Temperature != nil {
		flags |= 2
	}
	if req.JSON && len(req.Schema) > 0 {
		flags |= 4
	}
	h.number(flags)
	h.number(uint64(req.MaxTokens))
	if req.Temperature != nil {
		h.number(math.Float64bits(*req.Temperature))
	}
	if flags&4 != 0 {
		h.text(string(req.Schema))
	}
	purpose := string(req.Purpose)
	if purpose == "" {
		purpose = "call"
	}
	return purpose + "/" + h.sum()
}

// keyHash collects length-prefixed fields, so that no two lists of fields are one text.
type keyHash struct{ data []byte }

func newKeyHash() *keyHash {
	h := &keyHash{}
	h.text(keyVersion)
	return h
}

func (h *keyHash) number(n uint64) { h.data = binary.AppendUvarint(h.data, n) }

func (h *keyHash) text(s string) {
	h.number(uint64(len(s)))
	h.data = append(h.data, s...)
}

func (h *keyHash) sum() string {
	const bytes = 16
	sum := sha256.Sum256(h.data)
	return hex.EncodeToString(sum[:bytes])
}

// Cache answers repeated requests from store. A hit arrives as one delta with Cached set and a usage of one
// cached call. A miss is streamed on as it comes, and stored (before the last step of the loop ends) when it
// ended with FinishStop, more than reasoning was in it and the request's Usable has nothing against it (L2). Equal requests at the same time share one
// call, which goes on as long as one of them is still interested: a caller that is cancelled gets its own
// context's error and the others their reply. The failure of a shared call is delivered to all.
//
// An error of store.Get fails the call, before any cost; one of store.Put is logged.
func Cache(c Chat, store ByteStore, o CacheOptions) Chat {
	return &cachedChat{Chat: c, store: store, opts: o.withDefaults(), flights: map[string]*flight{}}
}

type cachedChat struct {
	Chat
	store ByteStore
	opts  CacheOptions

	mu      sync.Mutex
	flights map[string]*flight
}

func (c *cachedChat) Generate(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(Delta{}, err)
			return
		}
		key := CacheKey(c.ID(), req)
		hit, ok, err := c.get(ctx, key)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		if ok {
			yield(hit, nil)
			return
		}
		f := c.join(ctx, key, req)
		defer c.leave(f)
		f.follow(ctx, yield)
	}
}

func (c *cachedChat) get(ctx context.Context, key string) (Delta, bool, error) {
	data, ok, err := c.store.Get(ctx, key)
	if err != nil {
		return Delta{}, false, fmt.Errorf("llm: read reply cache: %w", err)
	}
	if !ok {
		return Delta{}, false, nil
	}
	text, err := decodeReply(data)
	if err != nil {
		c.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "unreadable entry of the reply cache is replaced", slog.String("key", key))
		return Delta{}, false, nil
	}
	return Delta{Text: text, Finish: FinishStop, Usage: Usage{CachedCalls: 1}, Cached: true}, true, nil
}

// flight is one call that several callers may follow.
type flight struct {
	key    string
	cancel context.CancelFunc
	done   chan struct{} // closed when the call's goroutine has ended

	followers int // guarded by cachedChat.mu

	mu      sync.Mutex
	deltas  []Delta
	err     error
	ended   bool
	changed chan struct{} // closed and replaced at each change
}

// join returns the flight for key, starting it if there is none. The caller must leave it.
func (c *cachedChat) join(ctx context.Context, key string, req Request) *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.flights[key]; f != nil {
		f.followers++
		return f
	}
	callCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{key: key, cancel: cancel, done: make(chan struct{}), followers: 1, changed: make(chan struct{})}
	c.flights[key] = f
	go c.fly(callCtx, f, req)
	return f
}

// leave ends the call when nobody follows it any more, and then waits for its goroutine.
func (c *cachedChat) leave(f *flight) {
	c.mu.Lock()
	f.followers--
	last := f.followers == 0
	if last {
		c.forget(f)
	}
	c.mu.Unlock()
	if last {
		f.cancel()
		<-f.done
	}
}

// forget lets the next equal request start a flight of its own. The caller holds c.mu.
func (c *cachedChat) forget(f *flight) {
	if c.flights[f.key] == f {
		delete(c.flights, f.key)
	}
}

func (c *cachedChat) fly(ctx context.Context, f *flight, req Request) {
	defer close(f.done)
	var (
		sb     strings.Builder
		finish Finish
		failed error
	)
	for d, err := range c.Chat.Generate(ctx, req) {
		if err != nil {
			failed = err
			break
		}
		sb.WriteString(d.Text)
		if d.Finish != "" {
			finish = d.Finish
		}
		f.add(d)
	}
	if text := sb.String(); failed == nil && finish == FinishStop && usable(req, text) {
		// The reply is paid for: the store tries to keep it even if the last caller leaves now.
		if err := c.store.Put(ctx, f.key, encodeReply(text)); err != nil {
			c.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "reply not cached", slog.String("key", f.key), slog.Any("error", err))
		}
	}
	c.mu.Lock()
	c.forget(f)
	c.mu.Unlock()
	f.end(failed)
}

// usable tells whether the reply is worth keeping.
func usable(req Request, reply string) bool {
	return StripReasoning(reply) != "" && (req.Usable == nil || req.Usable(reply))
}

func (f *flight) add(d Delta) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deltas = append(f.deltas, d)
	f.signal()
}

func (f *flight) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.err = true, err
	f.signal()
}

// signal wakes the followers. The caller holds f.mu.
func (f *flight) signal() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// follow delivers the deltas from the first on.
func (f *flight) follow(ctx context.Context, yield func(Delta, error) bool) {
	for next := 0; ; {
		f.mu.Lock()
		fresh, ended, err, changed := f.take(next), f.ended, f.err, f.changed
		f.mu.Unlock()
		for _, d := range fresh {
			if !yield(d, nil) {
				return
			}
		}
		next += len(fresh)
		if ended {
			if err != nil {
				yield(Delta{}, err)
			}
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			yield(Delta{}, ctx.Err())
			return
		}
	}
}

// take copies the deltas from next on. The first follower to come by gets the usage of the call, for the others
// it is a cached one: sums over all followers count what was spent once. The caller holds f.mu.
func (f *flight) take(next int) []Delta {
	fresh := slices.Clone(f.deltas[next:])
	for i := next; i < len(f.deltas); i++ {
		if u := &f.deltas[i].Usage; *u != (Usage{}) {
			*u = Usage{CachedCalls: u.Calls + u.CachedCalls}
		}
	}
	return fresh
}

// A stored reply is a version byte and the text.
const replyVersion = 1

var errEntry = errors.New("llm: unknown cache entry")

func encodeReply(text string) []byte {
	return append([]byte{replyVersion}, text...)
}

func decodeReply(data []byte) (string, error) {
	if len(data) < 2 || data[0] != replyVersion {
		return "", errEntry
	}
	return string(data[1:]), nil
}
