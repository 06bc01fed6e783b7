package anthropic

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"mime"
	"net/http"
	"strings"

	"github.com/glimdb/db/internal/endpoint"
	"github.com/glimdb/db/llm"
)

const opChat = "chat"

// body is the request. What the system says is no message here.
func (c *Chat) body(req llm.Request) map[string]any {
	body := map[string]any{"model": c.ChatModel, "stream": true, "max_tokens": c.MaxTokens}
	if req.MaxTokens > 0 {
		body["max_tokens"] = req.MaxTokens
	}
	if req.Temperature != nil {
		body["temperature"] = *req.Temperature
	}
	var system []string
	messages := []llm.Message{}
	for _, m := range req.Messages {
		if m.Role == llm.System {
			system = append(system, m.Content)
		} else {
			messages = append(messages, m)
		}
	}
	if body["messages"] = messages; len(system) > 0 {
		body["system"] = strings.Join(system, "\n\n")
	}
	maps.Copy(body, c.Params)
	return body
}

// Generate implements llm.Chat. What a model thinks comes in blocks of its own and is no part of the reply. A refusal is
// a reply with FinishFilter.
func (c *Chat) Generate(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return llm.Deadline(unlimitedChat{c}, c.Timeout).Generate(ctx, req)
}

// unlimitedChat is a Chat without its time limit.
type unlimitedChat struct{ *Chat }

func (c unlimitedChat) Generate(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		// Breaking the loop ends the call, not only the reading.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		resp, err := c.Post(ctx, opChat, "v1/messages", c.body(req))
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		defer resp.Body.Close()
		if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
			data, err := c.Whole(ctx, opChat, resp.Body)
			if err == nil {
				code, text := endpoint.ParseError(data)
				err = c.failed(code, "no stream: "+text)
			}
			yield(llm.Delta{}, err)
			return
		}
		c.stream(ctx, resp.Body, yield)
	}
}

// event is one of a stream. Those of other types hold nothing that is needed.
type event struct {
	Type    string `json:"type"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"` // of message_start
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`        // of content_block_delta
		StopReason string `json:"stop_reason"` // of message_delta
	} `json:"delta"`
	Usage usage `json:"usage"` // of message_delta
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// usage counts tokens: what was read from and written to the service's prompt cache is input as well.
type usage struct {
	Input      int `json:"input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	Output     int `json:"output_tokens"`
}

// take moves what is counted into u; each count is a running total.
func (n usage) take(u *llm.Usage) {
	u.PromptTokens = max(u.PromptTokens, n.Input+n.CacheRead+n.CacheWrite)
	u.CompletionTokens = max(u.CompletionTokens, n.Output)
}

func finish(reason string) llm.Finish {
	switch reason {
	case "end_turn", "stop_sequence":
		return llm.FinishStop
	case "max_tokens", "model_context_window_exceeded":
		return llm.FinishLength
	case "refusal":
		return llm.FinishFilter
	}
	return llm.Finish(reason)
}

// statuses of errors that come inside a stream or a 200.
var statuses = map[string]int{
	"invalid_request_error": http.StatusBadRequest,
	"authentication_error":  http.StatusUnauthorized,
	"permission_error":      http.StatusForbidden,
	"not_found_error":       http.StatusNotFound,
	"request_too_large":     http.StatusRequestEntityTooLarge,
	"rate_limit_error":      http.StatusTooManyRequests,
	"api_error":             http.StatusInternalServerError,
	"timeout_error":         http.StatusGatewayTimeout,
	"overloaded_error":      529,
}

// failed is an error that the server reports after it said 200.
func (c *Chat) failed(code, text string) *llm.Error {
	failure := c.Unusable(opChat, "%s", c.Excerpt(text))
	failure.Code = c.Excerpt(code)
	if status, known := statuses[code]; known {
		failure.Status = status
	}
	return failure
}

// stream delivers the pieces of text as they come and ends with a delta that has the reason and the usage. A sign of life
// without text, as of a model that thinks, is an empty delta.
func (c *Chat) stream(ctx context.Context, body io.Reader, yield func(llm.Delta, error) bool) {
	end := llm.Delta{Usage: llm.Usage{Calls: 1}}
	for data, err := range endpoint.Events(body, "") {
		if err != nil {
			if end.Finish != "" && ctx.Err() == nil {
				break // all was said
			}
			yield(llm.Delta{}, c.Broken(ctx, opChat, err))
			return
		}
		var e event
		if err := json.Unmarshal(data, &e); err != nil || e.Type == "" {
			yield(llm.Delta{}, c.Unusable(opChat, "not an event of a message: %s", c.Excerpt(string(data))))
			return
		}
		var d llm.Delta
		switch e.Type {
		case "message_start":
			e.Message.Usage.take(&end.Usage)
		case "content_block_delta":
			if e.Delta.Type == "text_delta" {
				d.Text = e.Delta.Text
			}
		case "message_delta":
			e.Usage.take(&end.Usage)
			if e.Delta.StopReason != "" {
				end.Finish = finish(e.Delta.StopReason)
			}
		case "error":
			yield(llm.Delta{}, c.failed(e.Error.Type, e.Error.Message))
			return
		}
		if e.Type == "message_stop" {
			break
		}
		if !yield(d, nil) {
			return
		}
	}
	switch {
	case ctx.Err() != nil:
		yield(llm.Delta{}, ctx.Err())
	case end.Finish == "":
		yield(llm.Delta{}, c.BrokenOff(opChat))
	default:
		yield(end, nil)
	}
}
