// Package llmtest holds fakes of the models and the conformance suites that every implementation of the
// interfaces of llm passes.
//
// The fakes are scripted and record what they were asked: Chat answers by rules, Embedder returns vectors that
// depend on the text alone, Reranker counts common words or follows a table. Each can be made slow, wrong or
// broken at a chosen call. The suites (TestChat, TestEmbedder, TestReranker, TestTokenizer, TestHTTP) check the
// contracts that the rest of Glim relies on: L1, L3, errors last, order kept, safe concurrent use.
//
// It is for tests only and owns no key on disk.
//
// Concurrency: the fakes are safe for concurrent use; rules and faults may be added while calls run.
//
// Invariants:
//   - F1: a call that no rule answers fails with ErrUnscripted, which names the call.
//   - F2: a call is recorded before it is answered, failed ones too.
//   - F3: waiting at a gate ends with the context.
package llmtest
