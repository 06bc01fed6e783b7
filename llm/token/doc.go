// Package token counts and cuts text into the tokens of OpenAI's tiktoken encodings, without network.
//
// The vocabularies are the ones shipped inside github.com/pkoukk/tiktoken-go-loader; the encodings
// are the ones of github.com/pkoukk/tiktoken-go, and tests compare the two token by token. tiktoken-go
// itself is not on the hot path: its regular expressions run at about 1 MB/s with several allocations a
// token, its merge loop is quadratic in the length of a pre-token (40,000 equal Han characters: 15 s), and it
// replaces invalid UTF-8 before encoding. Here a hand-written scanner finds the same pre-tokens and a heap
// merges long ones in bounded pieces, so that cost is linear on any input and every byte string comes back from
// Decode as it went into Encode. [FromTiktoken] adapts a tiktoken-go encoding of the caller's own.
//
// It does not know models, chat message overhead or prices. It owns no key on disk, does nothing at program
// start and reads no file, environment variable or network: a vocabulary is parsed at the first
// use of its encoding (some 50 ms for o200k_base, 5 MB of memory) and shared by all tokenizers.
//
// Special tokens such as <|endoftext|> are ordinary text here, as text from documents must be.
//
// Concurrency: everything is safe for concurrent use.
//
// Invariants:
//   - T1: Decode(Encode(x)) == x for every x, valid UTF-8 or not.
//   - T2: Count(x) == len(Encode(x)).
//   - T3: for valid UTF-8 the ids equal those of tiktoken-go's EncodeOrdinary, except inside pre-tokens of more
//     than 8 KiB, which are cut at character borders.
//   - T4: time is linear in the length of the text; memory beyond the ids is bounded.
package token
