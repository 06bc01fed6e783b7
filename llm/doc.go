// Package llm holds the small interfaces between Glim and models: Chat, Embedder, Reranker, Tokenizer,
// and decorators around them: retry, concurrency limit, batching, reply and vector cache, usage counts.
//
// It contains no provider: each lives in a package of its own (llm/openai), so that no provider's types
// reach the core. It opens no connection, reads no environment and owns no key on disk: the caches write
// through a two-method byte store that the caller hands in.
//
// Concurrency: every implementation must be safe for concurrent use; llm/llmtest holds the conformance
// suite.
//
// Invariants:
//   - L1: an Embedder returns exactly one finite, non-zero vector of Dim() values for each text, in order,
//     or an error; the decorators check it.
//   - L2: a reply that is empty, truncated or failed is never cached.
//   - L3: a cancelled context ends every call within the time the transport needs to notice it.
package llm
