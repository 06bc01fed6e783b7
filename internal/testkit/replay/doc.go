// Package replay answers chat requests from a recorded LightRAG folder: the fake behind tests that rebuild
// the graph of a real run. A recorded reply is found by the chunk's text, whatever the words of the prompt
// around it, so the engine under test keeps its own prompts.
//
// It is imported from tests only, writes nothing and owns no keys. A Folder is immutable, a Chat is safe
// for concurrent use.
package replay
