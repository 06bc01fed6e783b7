package llm

import "strings"

const (
	reasoningOpen  = "<think>"
	reasoningClose = "</think>"
)

// StripReasoning removes what a reasoning model thought aloud: every <think>…</think> block, and before them a
// beginning that only has its end (some chat templates put <think> into the prompt). A block that never ends
// is kept: it may be all there is. The rest is returned without white space around it.
func StripReasoning(reply string) string {
	end := strings.Index(reply, reasoningClose)
	if end < 0 {
		return strings.TrimSpace(reply)
	}
	if open := strings.Index(reply, reasoningOpen); open < 0 || open > end {
		reply = reply[end+len(reasoningClose):]
	}
	var sb strings.Builder
	for {
		open := strings.Index(reply, reasoningOpen)
		if open < 0 {
			break
		}
		length := strings.Index(reply[open:], reasoningClose)
		if length < 0 {
			break
		}
		sb.WriteString(reply[:open])
		reply = reply[open+length+len(reasoningClose):]
	}
	sb.WriteString(reply)
	return strings.TrimSpace(sb.String())
}
