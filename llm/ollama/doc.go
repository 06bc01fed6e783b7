// Package ollama talks to an Ollama server by its own calls, POST /api/chat and POST /api/embed.
//
// Ollama also speaks OpenAI's calls (llm/openai), which say less: by its own, the length of the context and how long the
// model stays loaded can be asked for, a reply can be held to a JSON schema, and a prompt or text that is too long is
// an error instead of being cut without a word. It is a plain net/http client: Ollama's own Go client lives in the
// module of the server, which brings all of it along.
//
// The package does no retries, limits or caches; the decorators of llm do. It pulls no model, owns no key on disk,
// reads no environment and logs nothing.
//
// Concurrency: Chat and Embedder are safe for concurrent use.
//
// Invariants:
//   - P1: a stream that ends before the model said that it is done is an error, never a short reply.
//   - P2: what a model thinks aloud is no part of the reply, whether it comes in a field of its own or in the text.
//   - P3: every failure is an *llm.Error or *llm.VectorError, or the context's error when that ended.
package ollama
