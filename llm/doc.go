// Package llm holds the small interfaces between Glim and models: Chat, Embedder, Reranker, Tokenizer,
// and decorators around them: retry, concurrency limit, time limit, batching, reply and vector cache, usage
// counts. [Chain] puts them together in the right order.
//
// It contains no provider: each lives in a package of its own (llm/openai, llm/rerank), so that no provider's types
// reach the core. It opens no connection, reads no environment and owns no key on disk: the caches write
// through a two-method byte store that the caller hands in. Decorators log counts, waits and keys, never text.
//
// Concurrency: every implementation must be safe for concurrent use; llm/llmtest holds the conformance
// suite. Goroutines are started in two places: by Batch, which waits for its own, and for a cached chat call,
// which its last caller waits for.
//
// Invariants:
//   - L1: an Embedder returns exactly one finite, non-zero vector of Dim() values for each text, in order,
//     or an error; Batch and CacheEmbedder check it.
//   - L2: only a reply that ended with FinishStop, holds more than reasoning and is Usable to its caller is cached:
//     none that is empty, truncated, filtered, failed or broken off.
//   - L3: a cancelled context ends every call within the time the transport needs to notice it, and never
//     harms another caller of the same cached call.
//   - L4: a call is repeated only when it may succeed later and nothing of its reply was delivered.
//   - L5: a reply or vector that a cache could store is not asked for again, whatever failed beside it, and what
//     is being asked for is not asked for a second time.
package llm
