package token

import (
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
)

// Adapter is a tiktoken-go encoding as a tokenizer. It implements llm.Tokenizer.
type Adapter struct {
	id  string
	enc *tiktoken.Tiktoken
}

// FromTiktoken adapts an encoding that the caller built with tiktoken-go, for vocabularies that this package
// does not have; id names it and is stored with what it counted. Loading its vocabulary is the caller's (by
// default tiktoken-go downloads it).
//
// Because tiktoken-go is quadratic on long pre-tokens, texts are encoded in sections of at most 4 KiB. They end
// before the space between two words, which no published encoding has inside a token of several words, or, when
// there is none, after any character. Special tokens are ordinary text. Bytes that are not UTF-8 become
// U+FFFD, as tiktoken-go has it: T1 holds for valid text only. It is as fast as tiktoken-go, about 1 MB/s.
func FromTiktoken(enc *tiktoken.Tiktoken, id string) *Adapter { return &Adapter{id: id, enc: enc} }

// ID returns the name given to FromTiktoken.
func (a *Adapter) ID() string { return a.id }

// Count returns the number of tokens of text.
func (a *Adapter) Count(text string) int {
	n := 0
	for len(text) > 0 {
		end := section(text)
		n += len(a.enc.EncodeOrdinary(text[:end]))
		text = text[end:]
	}
	return n
}

// Encode appends the token ids of text to dst and returns it.
func (a *Adapter) Encode(dst []int, text string) []int {
	for len(text) > 0 {
		end := section(text)
		dst = append(dst, a.enc.EncodeOrdinary(text[:end])...)
		text = text[end:]
	}
	return dst
}

// Decode returns the bytes of the tokens, joined.
func (a *Adapter) Decode(tokens []int) []byte { return []byte(a.enc.Decode(tokens)) }

// sectionLimit keeps the quadratic part of tiktoken-go to some ten milliseconds a section.
const sectionLimit = 4 << 10

// section returns how much of text to encode at once.
func section(text string) int {
	if len(text) <= sectionLimit {
		return len(text)
	}
	// The second half only: a border far to the front would leave little in the section.
	for i := sectionLimit - 1; i > sectionLimit/2; i-- {
		if text[i] == ' ' && asciiLetter(text[i-1]) && asciiLetter(text[i+1]) {
			return i
		}
	}
	end := sectionLimit
	for end > sectionLimit-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

func asciiLetter(c byte) bool { return c < utf8.RuneSelf && asciiClass[c]&letter != 0 }
