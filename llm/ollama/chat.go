package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"maps"

	"github.com/glimdb/db/internal/endpoint"
	"github.com/glimdb/db/llm"
)

// Chat is a chat model.
type Chat struct {
	*client
	id string
}

var _ llm.Chat = (*Chat)(nil)

const opChat = "chat"

// NewChat returns the chat model of c. It makes no call; a Config that cannot be used is an *llm.ConfigError.
func NewChat(c Config) (*Chat, error) {
	if c.ChatModel == "" {
		return nil, wrong("ChatModel", "is empty")
	}
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	shaping := cl.options()
	maps.Copy(shaping, c.Options)
	if c.Think {
		shaping["think"] = true
	}
	id := provider + "/" + c.ChatModel + "@" + cl.Host
	if len(shaping) > 0 {
		data, err := json.Marshal(shaping) // keys sorted
		if err != nil {
			return nil, wrong("Options", "%v", err)
		}
		id += string(data)
	}
	return &Chat{cl, id}, nil
}

// ID returns model, server and what shapes replies.
func (c *Chat) ID() string { return c.id }

func (c *Chat) request(req llm.Request) map[string]any {
	options := c.options()
	if req.Temperature != nil {
		options["temperature"] = *req.Temperature
	}
	if req.MaxTokens > 0 {
		options["num_predict"] = req.MaxTokens
	}
	body := c.body(c.ChatModel, options)
	body["messages"] = req.Messages
	if req.Messages == nil {
		body["messages"] = []llm.Message{}
	}
	// Without shift, a reply that reaches the end of the context ends there, with the reason.
	body["stream"], body["think"], body["shift"] = true, c.Think, c.Truncate
	switch {
	case req.JSON && len(req.Schema) > 0:
		body["format"] = req.Schema
	case req.JSON:
		body["format"] = "json"
	}
	return body
}

// Generate implements llm.Chat.
func (c *Chat) Generate(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return llm.DropReasoning(llm.Deadline(plainChat{c}, c.Timeout)).Generate(ctx, req)
}

// plainChat is a Chat without its time limit, and with reasoning in the text.
type plainChat struct{ *Chat }

func (c plainChat) Generate(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		// Breaking the loop ends the call, not only the reading.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		resp, err := c.Post(ctx, opChat, "api/chat", c.request(req))
		if err != nil {
			yield(llm.Delta{}, hinted(err, c.ChatModel))
			return
		}
		defer resp.Body.Close()
		c.stream(ctx, resp.Body, yield)
	}
}

// piece is one line of a reply.
type piece struct {
	Message *struct {
		Content string `json:"content"`
	} `json:"message"`
	Done            bool            `json:"done"`
	DoneReason      string          `json:"done_reason"`
	PromptEvalCount int             `json:"prompt_eval_count"`
	EvalCount       int             `json:"eval_count"`
	Error           json.RawMessage `json:"error"`
}

// finish is why a reply ended that is done.
func (p *piece) finish() llm.Finish {
	switch p.DoneReason {
	case "", "stop":
		return llm.FinishStop
	case "length":
		return llm.FinishLength
	}
	return llm.Finish(p.DoneReason)
}

// stream delivers the pieces of text as they come and ends with a delta that has the reason and the usage. A piece
// without text, as of a model that thinks, is an empty delta: the model is at work.
func (c *Chat) stream(ctx context.Context, body io.Reader, yield func(llm.Delta, error) bool) {
	for data, err := range endpoint.Lines(body) {
		if err != nil && !bytes.HasPrefix(data, []byte("{")) && len(data) > 0 {
			err = nil // not the beginning of a piece: read tells what it is
		}
		if err != nil {
			yield(llm.Delta{}, c.Broken(ctx, opChat, err))
			return
		}
		p, err := c.read(data)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		var d llm.Delta
		if p.Message != nil {
			d.Text = p.Message.Content
		}
		if p.Done {
			d.Finish = p.finish()
			d.Usage = llm.Usage{Calls: 1, PromptTokens: p.PromptEvalCount, CompletionTokens: p.EvalCount}
		}
		if !yield(d, nil) || p.Done {
			return
		}
	}
	if ctx.Err() != nil {
		yield(llm.Delta{}, ctx.Err())
		return
	}
	yield(llm.Delta{}, c.BrokenOff(opChat))
}

// read understands one line. A model that was loaded or unloaded instead of asked is no reply.
func (c *Chat) read(data []byte) (*piece, error) {
	var p piece
	if json.Unmarshal(data, &p) != nil || p.Message == nil && !p.Done && len(p.Error) == 0 {
		_, text := endpoint.ParseError(data)
		return nil, c.Unusable(opChat, "not a piece of a chat reply: %s", c.Excerpt(text))
	}
	if len(p.Error) > 0 {
		_, text := endpoint.ParseError(data)
		return nil, hinted(c.Unusable(opChat, "%s", c.Excerpt(text)), c.ChatModel)
	}
	if p.Done && (p.DoneReason == "load" || p.DoneReason == "unload") {
		return nil, c.Unusable(opChat, "the model was %sed and not asked", p.DoneReason)
	}
	return &p, nil
}
