// Package openai talks to OpenAI and to every server that speaks its chat and embedding calls (Ollama, vLLM,
// llama.cpp, LM Studio, most hosted models).
//
// It is a plain net/http client of two calls, POST <base>/chat/completions and POST <base>/embeddings, and
// lenient about what compatible servers leave out. The official SDK is not used: for these two calls it would
// add 26 MB to a program and minutes to its build, and reads keys from the environment by itself. The package
// does no retries, limits or caches; the decorators of llm do. It owns no key on disk, reads the environment
// only in [FromEnv], and logs nothing.
//
// Concurrency: Chat and Embedder are safe for concurrent use.
//
// Invariants:
//   - O1: a stream that ends before the model said why it ended is an error, never a short reply.
//   - O2: every failure is an *llm.Error or *llm.VectorError, or the context's error when that ended.
package openai
