// Package endpoint is what the clients of model servers have in common: one POST of JSON to a checked address, a
// reply of bounded size, lines and events of a streamed one, and every failure as an *llm.Error that says what the
// server said, briefly and without secrets.
//
// It knows no provider's calls and reads nothing of a reply but its errors. It does no retries, limits or caches,
// owns no key on disk, reads no environment and logs nothing.
//
// Concurrency: an Endpoint is safe for concurrent use. No goroutine is started.
//
// Invariants:
//   - E1: neither the key, nor the value of a configured header, nor what the address hides is in an error; of a
//     reply an error holds a short excerpt at most, on one line.
//   - E2: no more than Config.MaxReply bytes of a reply are read, and what is longer is an error, never a short reply.
//   - E3: a redirect is not followed: it would turn the call into a GET, or send key and text to another place.
package endpoint
