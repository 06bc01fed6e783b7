// Package lexical reads text without a model: sentences, words, normal forms, stop words, matching terms,
// and the names and terms that a text is about. The offline extractor, embedder and keyworder stand on it.
//
// It knows no dictionary, no gazetteer and no part of speech. What it finds follows from writing: case,
// punctuation, repetition, and short lists of function words. It is therefore honest about being lexical:
// it does not know that a car is an automobile, or who "she" is.
//
// It owns no keys and keeps no state; every function may be called from any goroutine.
//
// Invariants:
//
//	L1. Any string is accepted, valid UTF-8 or not; nothing panics.
//	L2. Offsets are bytes into the text given, start <= end, in ascending order, never overlapping.
//	    In valid UTF-8 they are rune borders.
//	L3. Time and memory are linear in the length of the text: sentences and tokens have a maximal length,
//	    and what is quadratic is so in those lengths only.
//	L4. Equal inputs give equal outputs, orders included.
//
// Scripts written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) are one token per run; terms are
// mined from the runs by suffixes, quotes, repetition and the variety of their neighbours.
package lexical
