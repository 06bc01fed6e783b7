package token

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The encodings by name.
const (
	O200kBase  = "o200k_base"  // GPT-4o and later
	Cl100kBase = "cl100k_base" // GPT-4, GPT-3.5, text-embedding-3
	P50kBase   = "p50k_base"   // Codex, text-davinci-002 and -003
	P50kEdit   = "p50k_edit"   // edit models; differs from p50k_base in special tokens only
	R50kBase   = "r50k_base"   // GPT-3; also called gpt2
)

// DefaultEncoding is what an empty name means.
const DefaultEncoding = O200kBase

// ErrEncoding reports the name of an encoding that this package does not have. Errors carry it inside an
// *EncodingError.
var ErrEncoding = errors.New("token: unknown encoding")

// EncodingError names the encoding asked for.
type EncodingError struct {
	Name string
}

func (e *EncodingError) Error() string {
	return fmt.Sprintf("token: unknown encoding %q (have %s)", e.Name, strings.Join(Encodings(), ", "))
}

func (e *EncodingError) Unwrap() error { return ErrEncoding }

// Encodings returns the names that New accepts, sorted.
func Encodings() []string {
	names := make([]string, 0, len(encodings))
	for name := range encodings {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// encoding is how pre-tokens are found and which vocabulary they are looked up in.
type encoding struct {
	next  func(text string) int
	vocab func() *vocabulary
}

// encodings never changes after its declaration. Encodings over the same file share the vocabulary.
var encodings = func() map[string]encoding {
	p50k := lazyVocabulary("p50k_base.tiktoken")
	return map[string]encoding{
		O200kBase:  {nextO200k, lazyVocabulary("o200k_base.tiktoken")},
		Cl100kBase: {nextCl100k, lazyVocabulary("cl100k_base.tiktoken")},
		P50kBase:   {nextP50k, p50k},
		P50kEdit:   {nextP50k, p50k},
		R50kBase:   {nextP50k, lazyVocabulary("r50k_base.tiktoken")},
	}
}()

// Tokenizer is one encoding. It implements llm.Tokenizer.
type Tokenizer struct {
	name string
	encoding
}

// New returns the tokenizer of an encoding; "" means DefaultEncoding. It returns at once: the vocabulary is
// read at first use. An unknown name is an *EncodingError (errors.Is ErrEncoding).
func New(name string) (*Tokenizer, error) {
	if name == "" {
		name = DefaultEncoding
	}
	enc, ok := encodings[name]
	if !ok {
		return nil, &EncodingError{Name: name}
	}
	return &Tokenizer{name: name, encoding: enc}, nil
}

// Default returns the tokenizer of DefaultEncoding.
func Default() *Tokenizer {
	return &Tokenizer{name: DefaultEncoding, encoding: encodings[DefaultEncoding]}
}

// ID returns the name of the encoding.
func (t *Tokenizer) ID() string { return t.name }

// Count returns the number of tokens of text. It allocates nothing, except scratch memory (reused) for
// pre-tokens over 128 bytes.
func (t *Tokenizer) Count(text string) int {
	v := t.vocab()
	n := 0
	for len(text) > 0 {
		size := t.next(text)
		n += v.countPiece(text[:size])
		text = text[size:]
	}
	return n
}

// Encode appends the token ids of text to dst and returns it.
func (t *Tokenizer) Encode(dst []int, text string) []int {
	v := t.vocab()
	for len(text) > 0 {
		size := t.next(text)
		dst = v.appendPiece(dst, text[:size])
		text = text[size:]
	}
	return dst
}

// Decode returns the bytes of the tokens, joined. A token may end inside a character, so the bytes of a part
// of a text need not be valid UTF-8. Ids outside the vocabulary (special tokens too) give no bytes. The
// slice is the caller's.
func (t *Tokenizer) Decode(tokens []int) []byte {
	v := t.vocab()
	n := 0
	for _, id := range tokens {
		n += len(v.text(id))
	}
	out := make([]byte, 0, n)
	for _, id := range tokens {
		out = append(out, v.text(id)...)
	}
	return out
}
