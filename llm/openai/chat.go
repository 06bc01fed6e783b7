package openai

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"mime"
	"net/http"

	"github.com/glimdb/db/internal/endpoint"
	"github.com/glimdb/db/llm"
)

// Chat is a chat model.
type Chat struct {
	*client
	id string
}

var _ llm.Chat = (*Chat)(nil)

// NewChat returns the chat model of c. It makes no call; a Config that cannot be used is a *llm.ConfigError.
func NewChat(c Config) (*Chat, error) {
	if c.ChatModel == "" {
		return nil, &llm.ConfigError{Provider: provider, Field: "ChatModel", Problem: "is empty"}
	}
	e, err := c.client()
	if err != nil {
		return nil, err
	}
	id := "openai/" + c.ChatModel + "@" + e.Host
	if len(c.ChatParams) > 0 {
		params, err := json.Marshal(c.ChatParams) // keys sorted
		if err != nil {
			return nil, &llm.ConfigError{Provider: provider, Field: "ChatParams", Problem: err.Error()}
		}
		id += string(params)
	}
	return &Chat{e, id}, nil
}

// ID returns model, server and parameters: two servers may run a model of one name differently.
func (c *Chat) ID() string { return c.id }

const opChat = "chat"

// doneEvent is the data of the last event.
const doneEvent = "[DONE]"

func (c *Chat) body(req llm.Request) map[string]any {
	body := map[string]any{"model": c.ChatModel, "messages": req.Messages}
	if req.Messages == nil {
		body["messages"] = []llm.Message{}
	}
	if req.JSON {
		body["response_format"] = map[string]string{"type": "json_object"}
	}
	if req.MaxTokens > 0 {
		body[c.MaxTokensField] = req.MaxTokens
	}
	if req.Temperature != nil {
		body["temperature"] = *req.Temperature
	}
	if !c.WholeReplies {
		body["stream"] = true
		body["stream_options"] = map[string]bool{"include_usage": true}
	}
	maps.Copy(body, c.ChatParams)
	return body
}

// Generate implements llm.Chat. What a model reports as its reasoning in a field of its own is not part of the
// reply. A refusal is a reply with FinishFilter.
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
		resp, err := c.Post(ctx, opChat, "chat/completions", c.body(req))
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		defer resp.Body.Close()
		kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		if c.WholeReplies || kind == "application/json" {
			// Some servers answer a stream request in one piece.
			yield(c.whole(ctx, resp))
			return
		}
		if kind == "text/html" {
			yield(llm.Delta{}, c.Page(ctx, opChat, resp.Body))
			return
		}
		c.stream(ctx, resp.Body, yield)
	}
}

// completion is a whole reply or a piece of one.
type completion struct {
	Choices []struct {
		Index        int     `json:"index"`
		Message      message `json:"message"`
		Delta        message `json:"delta"`
		FinishReason string  `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type message struct {
	Content content `json:"content"`
	Refusal string  `json:"refusal"`
}

// content is a text, or a list of parts of which those of type "text" count.
type content string

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	err := json.Unmarshal(data, &text)
	if err == nil {
		*c = content(text)
		return nil
	}
	var parts []struct {
		Type, Text string
	}
	if json.Unmarshal(data, &parts) != nil {
		return err
	}
	for _, p := range parts {
		if p.Type == "text" {
			*c += content(p.Text)
		}
	}
	return nil
}

// take moves what a piece says into d; d.Finish and d.Usage collect over the pieces of a stream.
func (p *completion) take(d *llm.Delta) {
	d.Text = ""
	if p.Usage != nil {
		d.Usage.PromptTokens, d.Usage.CompletionTokens = p.Usage.PromptTokens, p.Usage.CompletionTokens
	}
	for _, choice := range p.Choices {
		if choice.Index != 0 {
			continue
		}
		d.Text += string(choice.Message.Content + choice.Delta.Content)
		if refusal := choice.Message.Refusal + choice.Delta.Refusal; refusal != "" {
			d.Text += refusal
			d.Finish = llm.FinishFilter
		}
		if d.Finish == "" {
			d.Finish = llm.Finish(choice.FinishReason)
		}
	}
}

// inner returns the error that a server reports inside a 200.
func (c *Chat) inner(p *completion) error {
	if len(p.Error) == 0 || string(p.Error) == "null" {
		return nil
	}
	code, message := endpoint.ParseError([]byte(`{"error":` + string(p.Error) + `}`))
	failure := c.Fail(opChat, c.Excerpt(message), llm.ErrReply)
	failure.Code = c.Excerpt(code)
	// Routers report the status of the server behind them as the code.
	var status int
	if json.Unmarshal([]byte(code), &status) == nil && http.StatusText(status) != "" {
		failure.Status, failure.Code = status, ""
	} else {
		failure.Status = http.StatusOK
	}
	return failure
}

func (c *Chat) whole(ctx context.Context, resp *http.Response) (llm.Delta, error) {
	data, err := c.Whole(ctx, opChat, resp.Body)
	if err != nil {
		return llm.Delta{}, err
	}
	var p completion
	if err := json.Unmarshal(data, &p); err != nil {
		_, text := endpoint.ParseError(data)
		return llm.Delta{}, c.Unusable(opChat, "not a chat completion: %s", c.Excerpt(text))
	}
	if err := c.inner(&p); err != nil {
		return llm.Delta{}, err
	}
	if len(p.Choices) == 0 {
		return llm.Delta{}, c.Unusable(opChat, "no choices")
	}
	d := llm.Delta{Usage: llm.Usage{Calls: 1}}
	p.take(&d)
	if d.Finish == "" {
		d.Finish = llm.FinishStop
	}
	return d, nil
}

// stream delivers the pieces of text as they come and ends with a delta that has the reason and the usage.
func (c *Chat) stream(ctx context.Context, body io.Reader, yield func(llm.Delta, error) bool) {
	var (
		state   = llm.Delta{Usage: llm.Usage{Calls: 1}}
		choices bool
		done    bool
	)
	for data, err := range endpoint.Events(body, doneEvent) {
		if err != nil {
			if state.Finish != "" && ctx.Err() == nil {
				break // all was said
			}
			yield(llm.Delta{}, c.Broken(ctx, opChat, err))
			return
		}
		if string(data) == doneEvent {
			done = true
			break
		}
		var p completion
		if err := json.Unmarshal(data, &p); err != nil {
			yield(llm.Delta{}, c.Unusable(opChat, "not a piece of a chat completion: %s", c.Excerpt(string(data))))
			return
		}
		if err := c.inner(&p); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		choices = choices || len(p.Choices) > 0
		p.take(&state)
		if state.Text != "" && !yield(llm.Delta{Text: state.Text}, nil) {
			return
		}
	}
	switch {
	case ctx.Err() != nil:
		yield(llm.Delta{}, ctx.Err())
		return
	case done && !choices:
		yield(llm.Delta{}, c.Unusable(opChat, "no choices"))
		return
	case state.Finish == "" && !done:
		yield(llm.Delta{}, c.BrokenOff(opChat))
		return
	case state.Finish == "":
		state.Finish = llm.FinishStop
	}
	yield(llm.Delta{Finish: state.Finish, Usage: state.Usage}, nil)
}
