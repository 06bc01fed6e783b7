// Package prompt holds the texts that Glim sends to chat models: extraction, gleaning, description
// summaries, keywords and answers, each an embedded template with named slots.
//
// It calls no model and parses no reply. It owns no keys; the hash of a template is part of every cache
// key and of every extractor's ID, so changing a text makes the replies to it new.
//
// All functions are pure and safe for concurrent use.
//
// Invariants:
//   - T1: slots are filled in one pass and values are never read again as templates, so text that holds
//     braces, slots or markup reaches the model unchanged.
//   - T2: text of a user stands in a fence that is longer than any fence inside it.
//   - T3: a system message of the extraction and summary prompts depends on configuration only, never
//     on the text at hand, so that providers can cache the prefix.
//   - T4: equal arguments give equal bytes.
package prompt
