// Package anthropic talks to Anthropic's models, and to servers that speak the same call, POST /v1/messages.
//
// It is a plain net/http client of that one call, streamed. The official SDK is not used: for one call it would add
// megabytes to a program, reads keys from the environment by itself, and retries on its own. There are no embeddings:
// the service has none, so that an embedding model comes from another provider. JSON is asked for by the prompt alone.
//
// The package does no retries, limits or caches; the decorators of llm do. It owns no key on disk, reads no
// environment and logs nothing.
//
// Concurrency: a Chat is safe for concurrent use.
//
// Invariants:
//   - A1: a stream that ends before the model said why it ended is an error, never a short reply.
//   - A2: an error inside the stream has the status and the code that it would have had as an answer, so that an
//     overloaded server is tried again.
//   - A3: every failure is an *llm.Error, or the context's error when that ended.
package anthropic
