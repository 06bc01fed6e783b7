package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"regexp"
	"strings"

	"github.com/glimdb/db"
	"github.com/glimdb/db/graph"
	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/llm"
	"github.com/glimdb/db/query"
)

// failure is an error as a person sees it: one line that says what is wrong and where, one that says what
// to do about it, and the exit code.
type failure struct {
	code       int
	what, hint string
	err        error // the cause, kept for errors.Is; may be nil
	told       bool  // the page on standard output says it already
}

// failureJSON is a failure as programs read it.
type failureJSON struct {
	Error struct {
		Code    int    `json:"code"` // the exit code
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	} `json:"error"`
}

func (f *failure) Error() string { return f.what }
func (f *failure) Unwrap() error { return f.err }

// print tells the failure on standard error: to a person, or as one line of JSON.
func (f *failure) print(to *output, asJSON bool) {
	switch {
	case asJSON:
		var j failureJSON
		j.Error.Code, j.Error.Message, j.Error.Hint = f.code, f.what, f.hint
		e := json.NewEncoder(to)
		e.SetEscapeHTML(false)
		_ = e.Encode(j) // to remembers a write that failed
	case !f.told:
		to.printf("glim: %s\n", f.what)
		if f.hint != "" {
			to.printf("      %s\n", f.hint)
		}
	}
}

// usage is a mistake in the command line, the environment or the configuration.
func usage(format string, args ...any) error {
	return &failure{code: exitUsage, what: fmt.Sprintf(format, args...)}
}

// notFound is a name that stands for nothing.
func notFound(hint, format string, args ...any) error {
	return &failure{code: exitNotFound, what: fmt.Sprintf(format, args...), hint: hint}
}

// explain turns any error into a failure. Errors that a person can do something about are put into words
// here; all others keep the engine's own chain, which is what a report of a fault needs.
func (a *app) explain(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	f := &failure{code: exitFailure, what: plain(err), err: err}
	for _, explain := range []func(error, *failure) bool{a.explainStore, a.explainDocuments, explainVectors, explainArguments, explainModels} {
		if explain(err, f) {
			break
		}
	}
	return f
}

// explainStore speaks of the database as a whole.
func (a *app) explainStore(err error, f *failure) bool {
	where := a.set.DB
	mismatch, isMismatch := errors.AsType[*db.MismatchError](err)
	switch {
	case errors.Is(err, context.Canceled):
		f.code, f.what = exitInterrupted, "interrupted"
	case errors.Is(err, db.ErrLocked):
		f.code, f.what = exitUnavailable, "database "+where+" is in use by another process"
		f.hint = "wait for it to end, or choose another database with --db"
	case errors.Is(err, db.ErrDiskFull):
		f.code, f.what = exitUnavailable, "no space left on the disk of "+where
		f.hint = "free some space and run the command again; everything acknowledged is kept"
	case errors.Is(err, db.ErrReadOnly):
		f.code, f.what = exitUnavailable, "database "+where+" cannot be written: "+f.what
		f.hint = "look at the disk and the permissions of the directory, then run the command again"
	case isMismatch:
		f.what = fmt.Sprintf("the %s is %s, but %s was made with %s", mismatch.What, mismatch.Given, a.where(), mismatch.Stored)
		f.hint = "use the models that `glim stats` names, or insert into a new database with --db"
		if mismatch.What != "tokenizer" {
			f.hint = "use the models that `glim stats` names, change the embedding model with `glim reembed`, or insert into a new database with --db"
		}
	case errors.Is(err, db.ErrFormat):
		f.what = where + " is no database of this version: " + plain(err)
		f.hint = "choose another directory with --db"
	case errors.Is(err, db.ErrCorrupt):
		f.what = "database " + where + " is damaged: " + f.what
		f.hint = "see what `glim check` finds; `glim dump` saves what can be read"
	default:
		return false
	}
	return true
}

// explainDocuments speaks of documents and dumps.
func (a *app) explainDocuments(err error, f *failure) bool {
	missing, isMissing := errors.AsType[*index.NotFoundError](err)
	switch {
	case isMissing:
		f.code, f.what = exitNotFound, "no document "+quoted(missing.IDs)+" in "+a.where()
		f.hint = "`glim docs` lists the ids"
	case errors.Is(err, db.ErrNotFound):
		f.code = exitNotFound
	case errors.Is(err, db.ErrNotEmpty):
		f.what = "database " + a.where() + " is not empty, and a dump is only loaded into an empty one"
		f.hint = "name a new database with --db, or a new workspace with --workspace"
	default:
		return false
	}
	return true
}

// argumentOf is what the command calls the fields of a query, and what it takes where that differs: a flag that
// was not given is no zero.
var argumentOf = map[string]struct{ name, want string }{
	"query":            {name: "the question"},
	"text":             {name: "the words"},
	"k":                {name: "-k"},
	"mode":             {name: "--mode"},
	"picker":           {name: "--picker"},
	"top_k":            {name: "--top-k", want: fmt.Sprintf("1 to %d", query.MaxTopK)},
	"chunk_top_k":      {name: "--chunk-top-k", want: fmt.Sprintf("1 to %d", query.MaxTopK)},
	"search":           {name: "--search"},
	"fusion":           {name: "--fusion"},
	"vector_share":     {name: "--vector-share"},
	"cosine_threshold": {name: "--threshold"},
	"min_rerank_score": {name: "--min-rerank-score"},
	"routing.mode":     {name: "--routing"},
	"routing.clusters": {name: "--clusters"},
	"routing.fuse":     {name: "--fuse"},
	"ll_keywords":      {name: "--low"},
	"hl_keywords":      {name: "--high"},
	"user_prompt":      {name: "--instruct"},
}

// explainArguments speaks of values that the library refused.
func explainArguments(err error, f *failure) bool {
	fields := allOf[*query.FieldError](err)
	switch {
	case errors.Is(err, query.ErrEmptyQuery):
		f.what, f.hint = "the question is empty", `ask something: glim query "Who is Scrooge?"`
	case errors.Is(err, query.ErrNoEntityWords):
		f.what, f.hint = "the entities are not indexed by their words", "index them: glim search --entities --entity-words on ..., once; inserts keep that up"
	case len(fields) == 1 && fields[0].Field == "query":
		f.what = fmt.Sprintf("the question has %v: %s", fields[0].Value, fields[0].Reason)
	case len(fields) > 0:
		var parts []string
		for _, e := range fields {
			parts = append(parts, fmt.Sprintf("%s: %v: %s", e.Field, e.Value, e.Reason))
			if a := argumentOf[e.Field]; a.name != "" {
				parts[len(parts)-1] = fmt.Sprintf("%s %v: want %s", a.name, e.Value, cmp.Or(a.want, strings.TrimPrefix(e.Reason, "want ")))
			}
		}
		f.what = strings.Join(parts, "; ")
	case errors.Is(err, graph.ErrInvalid), errors.Is(err, db.ErrOption), errors.Is(err, index.ErrConfig):
	default:
		return false
	}
	f.code = exitUsage
	return true
}

// explainModels speaks of chat and embedding models.
func explainModels(err error, f *failure) bool {
	up, isUp := errors.AsType[*query.UpstreamError](err)
	call, isCall := errors.AsType[*llm.Error](err)
	switch {
	case errors.Is(err, llm.ErrNoModel):
		f.code, f.what = exitUsage, "an answer needs a chat model, and none is configured"
		f.hint = "name one with --chat-model, its endpoint with --base-url and its key in OPENAI_API_KEY (`glim settings --help`), or see what the documents say: leave out --answer and --mode bypass"
		return true
	case isCall:
		f.what = plain(call)
		if isUp {
			f.what = "model " + up.Model + " failed (" + string(up.Step) + "): " + f.what
		}
		f.hint = modelHint(call)
		// A name that is not in the DNS is worth no second attempt, and no answer either.
		if _, unknown := errors.AsType[*net.DNSError](err); unknown || call.Retryable() {
			f.code = exitUnavailable
		}
		return true
	}
	return false
}

func modelHint(e *llm.Error) string {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "look at the API key: GLIM_API_KEY, or api_key in the configuration file"
	case http.StatusNotFound:
		return "look at --base-url and the model's name"
	case 0: // no response
		return "look at --base-url and whether the server runs; --offline works without models"
	}
	return ""
}

// packageNames begin the messages of the library's packages. They help who reads its code, nobody else.
var packageNames = regexp.MustCompile(`(^|: )(?:(?:db|kv|wal|graph|analytics|eval|vector|hnsw|index|chunk|query|llm|token|openai|ollama|anthropic|dump|codec): )+`)

// plain is the message of err as one line, without names of packages.
func plain(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrPermission) {
		return pe.Op + " " + pe.Path + ": permission denied"
	}
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' })
	for i, l := range lines {
		lines[i] = packageNames.ReplaceAllString(strings.TrimSpace(l), "$1")
	}
	return strings.Join(lines, "; ")
}

// allOf collects every T of a tree of joined errors.
func allOf[T error](err error) (all []T) {
	if t, ok := err.(T); ok { //nolint:errorlint // each node of the tree is looked at by itself
		return []T{t}
	}
	switch u := err.(type) { //nolint:errorlint // walks the tree itself
	case interface{ Unwrap() []error }:
		for _, e := range u.Unwrap() {
			all = append(all, allOf[T](e)...)
		}
	case interface{ Unwrap() error }:
		if e := u.Unwrap(); e != nil {
			all = allOf[T](e)
		}
	}
	return all
}

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = brief.Quote(n)
	}
	return strings.Join(q, ", ")
}
