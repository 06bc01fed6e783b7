// Package rerank asks a reranking model behind HTTP how well each of many texts answers a question.
//
// One client speaks two forms of call: Standard, which Cohere, Jina, vLLM, llama.cpp, Xinference and others share, and
// Aliyun, DashScope's. [Cohere], [Jina] and [Aliyun] describe the hosted services; any other server needs an address and
// a model. [Split] lets a model with a short input score long texts, and works over any llm.Reranker, in process as
// well. It is a plain net/http client: no kept Go library speaks more than one of these calls.
//
// The package does no retries and no limits, which the decorators of llm do; it owns no key on disk and reads no
// environment. It logs, to the logger that it is given, what it discards of a reply, as counts; never text.
//
// Concurrency: what New and Split return is safe for concurrent use.
//
// Invariants:
//   - R1: a score stands for the text of its index. What has no whole-number index in range, or no finite score,
//     is discarded and counted, and so is an index that already has one.
//   - R2: a text without a score has NaN, never a made-up one. A reply without any usable score is an error.
//   - R3: splitting ends for every configuration, and every character of a text is in one of its pieces.
//   - R4: every failure is an *llm.Error, or the context's error when that ended.
package rerank
