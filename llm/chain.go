package llm

import "time"

// Chain puts the decorators around a model in the one order that works, outermost first:
//
//	chat, reranker:  Meter, Cache (chat only), Retry, Limit, Deadline, Guard, model
//	embedder:        CacheEmbedder, Batch, Retry, Limit, Deadline, Meter, Guard, model
//
// So a hit costs no place and no attempt; a call that waits before its next attempt holds no place; the time
// limit is that of one attempt and does not run while it waits for a place; each batch is retried alone. A provider that
// asks to slow down makes all calls of the Limiter wait.
// Fields that are nil or zero leave their decorator out, but for Retry and Batch, whose zero values mean their
// defaults; Retry.Attempts of 1 turns retries off.
type Chain struct {
	Meter *Meter
	Store ByteStore
	Cache CacheOptions
	Retry RetryPolicy
	// Limiter may be shared by chains.
	Limiter *Limiter
	Timeout time.Duration
	Batch   BatchOptions
}

// retry is the policy with the limiter that it pauses.
func (ch Chain) retry() RetryPolicy {
	p := ch.Retry
	if p.Limiter == nil {
		p.Limiter = ch.Limiter
	}
	return p
}

// Chat decorates c; nil stays nil.
func (ch Chain) Chat(c Chat) Chat {
	if c == nil {
		return nil
	}
	c = Deadline(Guard(c), ch.Timeout)
	if ch.Limiter != nil {
		c = Limit(c, ch.Limiter)
	}
	c = Retry(c, ch.retry())
	if ch.Store != nil {
		c = Cache(c, ch.Store, ch.Cache)
	}
	if ch.Meter != nil {
		c = ch.Meter.Chat(c)
	}
	return c
}

// Embedder decorates e; nil stays nil.
func (ch Chain) Embedder(e Embedder) Embedder {
	if e == nil {
		return nil
	}
	e = GuardEmbedder(e)
	if ch.Meter != nil {
		e = ch.Meter.Embedder(e)
	}
	e = DeadlineEmbedder(e, ch.Timeout)
	if ch.Limiter != nil {
		e = LimitEmbedder(e, ch.Limiter)
	}
	e = Batch(RetryEmbedder(e, ch.retry()), ch.Batch)
	if ch.Store != nil {
		e = CacheEmbedder(e, ch.Store, ch.Cache)
	}
	return e
}

// Reranker decorates r; nil stays nil.
func (ch Chain) Reranker(r Reranker) Reranker {
	if r == nil {
		return nil
	}
	r = DeadlineReranker(GuardReranker(r), ch.Timeout)
	if ch.Limiter != nil {
		r = LimitReranker(r, ch.Limiter)
	}
	r = RetryReranker(r, ch.retry())
	if ch.Meter != nil {
		r = ch.Meter.Reranker(r)
	}
	return r
}
