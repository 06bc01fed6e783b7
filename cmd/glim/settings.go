package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/glimdb/db/index"
	"github.com/glimdb/db/internal/brief"
	"github.com/glimdb/db/llm"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// settings say which database and which models to use. Every field has one name in three spellings: a
// flag (--chat-model), an environment variable (GLIM_CHAT_MODEL) and a key of the configuration file
// (chat_model). A flag beats the environment, the environment beats the file, the file beats the default.
type settings struct {
	DB          string
	Workspace   string
	Offline     bool
	BaseURL     string
	APIKey      string
	ChatModel   string
	EmbedModel  string
	EmbedDim    int
	EmbedURL    string
	EmbedKey    string
	Timeout     time.Duration
	Retries     int
	Language    string
	Prices      string
	EntityWords string
	Provider    providerSettings
	Rerank      rerankSettings
}

const (
	defaultDB     = "./glim.db"
	configName    = "glim.yaml"
	configEnv     = "GLIM_CONFIG"
	maxRetries    = 100     // the library's own bound
	maxConfigSize = 1 << 20 // bytes; anything larger is another file by mistake
)

// setting ties one field to its names.
type setting struct {
	flag   string
	short  string            // a letter for the flag
	altEnv map[string]string // a name that other tools use, too, by what the server speaks: a key is for one service only
	usage  string
	field  func(*settings) any // pointer to the field
	secret bool                // never a flag, which would show in the process list, and never printed
}

func (t *setting) key() string { return strings.ReplaceAll(t.flag, "-", "_") }
func (t *setting) env() string { return "GLIM_" + strings.ToUpper(t.key()) }

var settingTable = slices.Concat([]setting{
	{flag: "db", usage: "database `directory`", field: func(s *settings) any { return &s.DB }},
	{flag: "workspace", short: "w", usage: "`name` of the workspace in the database (none: the default one)", field: func(s *settings) any { return &s.Workspace }},
	{flag: "offline", usage: "use no model even if one is configured", field: func(s *settings) any { return &s.Offline }},
	{flag: "base-url", altEnv: map[string]string{openAI: "OPENAI_BASE_URL", claude: "ANTHROPIC_BASE_URL"}, usage: "`URL` of the model server", field: func(s *settings) any { return &s.BaseURL }},
	{flag: "api-key", altEnv: map[string]string{openAI: "OPENAI_API_KEY", claude: "ANTHROPIC_API_KEY"}, secret: true, field: func(s *settings) any { return &s.APIKey }},
	{flag: "chat-model", usage: "chat `model` for extraction, keywords, summaries and answers (none: offline rules)", field: func(s *settings) any { return &s.ChatModel }},
	{flag: "embed-model", usage: "embedding `model` (none: offline lexical vectors)", field: func(s *settings) any { return &s.EmbedModel }},
	{flag: "embed-dim", usage: "`dimension` of the embedding model's vectors", field: func(s *settings) any { return &s.EmbedDim }},
	{flag: "embed-base-url", usage: "`URL` for embeddings when it is another one", field: func(s *settings) any { return &s.EmbedURL }},
	{flag: "embed-api-key", secret: true, field: func(s *settings) any { return &s.EmbedKey }},
	{flag: "timeout", usage: "time limit of one attempt of a model call, and of each silence of a streamed reply", field: func(s *settings) any { return &s.Timeout }},
	{flag: "retries", usage: "how often a failed model call is repeated, 0 to 100", field: func(s *settings) any { return &s.Retries }},
	{flag: "prices", usage: "what models cost, `MODEL=PROMPT[/COMPLETION],...` by million tokens, for the costs in `glim docs`", field: func(s *settings) any { return &s.Prices }},
	{flag: "language", usage: "language of extracted descriptions", field: func(s *settings) any { return &s.Language }},
	{flag: "entity-words", usage: "index entities by their words, for query --search and search --entities: `on` or off (none: as the database has it)", field: func(s *settings) any { return &s.EntityWords }},
}, providerTable, rerankTable)

func defaultSettings() settings {
	return settings{DB: defaultDB, Timeout: 4 * time.Minute, Retries: 4, Language: "English", Provider: providerSettings{Chat: openAI}, Rerank: defaultRerank()}
}

// addFlags declares the flags; resolve reads them.
func addFlags(fs *pflag.FlagSet, into *settings, config *string) {
	fs.StringVar(config, "config", "", "configuration `file` (default ./"+configName+", then the user's configuration folder)")
	for _, t := range settingTable {
		if t.secret {
			continue
		}
		usage := t.usage + " [" + t.env() + "]"
		switch p := t.field(into).(type) {
		case *string:
			fs.StringVarP(p, t.flag, t.short, *p, usage)
		case *bool:
			fs.BoolVar(p, t.flag, *p, usage)
		case *int:
			fs.IntVar(p, t.flag, *p, usage)
		case *time.Duration:
			fs.DurationVar(p, t.flag, *p, usage)
		}
	}
}

// sources name where each setting came from, by flag.
type sources map[string]string

// resolve applies file, environment and flags over the defaults, in that order.
func resolve(flags *pflag.FlagSet, fromFlags settings, config string, getenv func(string) string) (settings, sources, error) {
	s, from := defaultSettings(), make(sources)
	if err := fromFile(&s, from, config, getenv); err != nil {
		return s, from, err
	}
	for _, t := range slices.Concat(providerTable[:1], settingTable) { // the provider first: other names depend on it
		name, v := t.env(), getenv(t.env())
		if alt := t.altEnv[s.Provider.Chat]; v == "" && alt != "" {
			name, v = alt, getenv(alt)
		}
		if v != "" {
			if err := assign(t.field(&s), v); err != nil {
				return s, from, usage("environment variable %s: %v", name, err)
			}
			from[t.flag] = "$" + name
		}
		if !t.secret && flags.Changed(t.flag) {
			copyField(t.field(&s), t.field(&fromFlags))
			from[t.flag] = "--" + t.flag
		}
	}
	return s, from, s.validate()
}

func (s *settings) validate() error {
	switch {
	case s.DB == "":
		return usage("the database directory is empty: give one with --db")
	case s.EmbedDim < 0:
		return usage("embed-dim is %d: want the length of the embedding model's vectors", s.EmbedDim)
	case s.Timeout <= 0:
		return usage("timeout is %v: want a duration above 0, such as 90s or 2m", s.Timeout)
	case s.Retries < 0 || s.Retries > maxRetries:
		return usage("retries is %d: want 0 to %d", s.Retries, maxRetries)
	}
	if !slices.Contains([]string{"", string(index.EntityWordsOn), string(index.EntityWordsOff)}, s.EntityWords) {
		return usage("entity-words is %s: want on or off", brief.Quote(s.EntityWords))
	}
	if _, err := pricesOf(s.Prices); err != nil {
		return err
	}
	if err := s.validateProviders(); err != nil {
		return err
	}
	return s.Rerank.validate()
}

// pricesOf reads prices: gpt-4o-mini=0.15/0.6,text-embedding-3-small=0.02
func pricesOf(list string) (llm.Prices, error) {
	prices := make(llm.Prices)
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		model, numbers, _ := strings.Cut(entry, "=")
		prompt, completion, both := strings.Cut(numbers, "/")
		var price llm.Price
		var err, err2 error
		price.Prompt, err = strconv.ParseFloat(prompt, 64)
		if both {
			price.Completion, err2 = strconv.ParseFloat(completion, 64)
		}
		if _, twice := prices[model]; model == "" || twice || err != nil || err2 != nil || !price.Valid() {
			return nil, usage("prices: %s: want MODEL=PROMPT/COMPLETION, numbers of 0 or more, each model once", brief.Quote(entry))
		}
		prices[model] = price
	}
	return prices, nil
}

func assign(field any, v string) error {
	var err error
	switch p := field.(type) {
	case *string:
		*p = v
	case *bool:
		if *p, err = strconv.ParseBool(v); err != nil {
			return fmt.Errorf("%s: want true or false", brief.Quote(v))
		}
	case *int:
		if *p, err = strconv.Atoi(v); err != nil {
			return fmt.Errorf("%s: want a whole number", brief.Quote(v))
		}
	case *time.Duration:
		if *p, err = time.ParseDuration(v); err != nil {
			return fmt.Errorf("%s: want a duration such as 90s or 2m", brief.Quote(v))
		}
	}
	return nil
}

func copyField(dst, src any) {
	switch p := dst.(type) {
	case *string:
		*p = *src.(*string)
	case *bool:
		*p = *src.(*bool)
	case *int:
		*p = *src.(*int)
	case *time.Duration:
		*p = *src.(*time.Duration)
	}
}

// fromFile reads the configuration file. Only a file that was asked for by name must exist.
func fromFile(s *settings, from sources, name string, getenv func(string) string) error {
	if name == "" {
		name = getenv(configEnv)
	}
	candidates := []string{name}
	if name == "" {
		candidates = []string{configName}
		if dir, err := os.UserConfigDir(); err == nil {
			candidates = append(candidates, filepath.Join(dir, "glim", "config.yaml"))
		}
	}
	for _, c := range candidates {
		raw, err := readConfig(c)
		if errors.Is(err, fs.ErrNotExist) && name == "" {
			continue
		}
		if err != nil {
			return usage("configuration %s: %v", c, cause(err))
		}
		return fromYAML(s, from, c, raw)
	}
	return nil
}

func readConfig(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxConfigSize+1))
	if len(raw) > maxConfigSize {
		return nil, fmt.Errorf("larger than %d bytes", maxConfigSize)
	}
	return raw, err
}

// fromYAML takes over a flat mapping of keys to scalars. An empty value leaves the setting as it is.
func fromYAML(s *settings, from sources, file string, raw []byte) error {
	var m map[string]yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(raw)).Decode(&m); err != nil && !errors.Is(err, io.EOF) {
		if _, ok := errors.AsType[*yaml.TypeError](err); ok {
			return usage("configuration %s: want lines of the form key: value", file)
		}
		return usage("configuration %s: %s", file, strings.TrimPrefix(plain(err), "yaml: "))
	}
	known := make(map[string]*setting, len(settingTable))
	for i := range settingTable {
		known[settingTable[i].key()] = &settingTable[i]
	}
	var problems []string
	for key, node := range m {
		t := known[key]
		switch {
		case t == nil:
			problems = append(problems, fmt.Sprintf("line %d: unknown key %s", node.Line, brief.Quote(key)))
		case node.Kind != yaml.ScalarNode:
			problems = append(problems, fmt.Sprintf("line %d: %s: want one value", node.Line, key))
		case node.Tag == "!!null":
		default:
			if err := assign(t.field(s), node.Value); err != nil {
				problems = append(problems, fmt.Sprintf("line %d: %s: %v", node.Line, key, err))
			}
			if t.flag == "db" && s.DB != "" && !filepath.IsAbs(s.DB) {
				s.DB = filepath.Join(filepath.Dir(file), s.DB) // wherever the command runs
			}
			from[t.flag] = file
		}
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		return &failure{code: exitUsage, what: "configuration " + file + ": " + strings.Join(problems, "; "),
			hint: "`glim settings --help` shows a file with the known keys"}
	}
	return nil
}

// resolved is one setting as `glim settings` prints it.
type resolved struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

func (a *app) settingsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "settings",
		Short: "Show all settings and where each comes from",
		Long: `A setting has one name in three spellings: a flag (--chat-model), an environment variable (GLIM_CHAT_MODEL)
and a key of the configuration file (chat_model). The first of these that is there counts:

  1. a flag
  2. the environment: GLIM_..., then OPENAI_BASE_URL and OPENAI_API_KEY where the GLIM_ variable is not set
     (with --provider anthropic ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY, with ollama neither)
  3. the configuration file: --config, $GLIM_CONFIG, ./glim.yaml, then glim/config.yaml in the user's
     configuration folder; only the first that exists is read
  4. the default

A relative db of a configuration file starts at that file's folder.

API keys are never flags, since those show in the process list: use GLIM_API_KEY or api_key. Hosted rerankers get
GLIM_RERANK_API_KEY, or what COHERE_API_KEY, JINA_API_KEY or DASHSCOPE_API_KEY holds.

Example of a configuration file:

  db: ./notes.db
  provider: ollama
  chat_model: qwen3
  embed_model: nomic-embed-text
  embed_dim: 768
  timeout: 2m

The output heeds NO_COLOR, CLICOLOR_FORCE, and COLUMNS where it is no terminal.`,
		Example: `  glim settings
  GLIM_DB=notes.db glim settings --json`,
		Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			all := make([]resolved, 0, len(settingTable))
			for _, t := range settingTable {
				r := resolved{Name: t.flag, Value: value(t.field(&a.set)), Source: a.from[t.flag]}
				if t.secret && r.Value != "" {
					r.Value = "(set)"
				}
				if r.Source == "" {
					r.Source = "default"
				}
				all = append(all, r)
			}
			if a.json {
				return a.out.json(all)
			}
			for _, r := range all {
				a.out.printf("%-21s %-30s %s\n", r.Name, r.Value, r.Source)
			}
			return nil
		},
	}
}

// value is a setting as it would be written.
func value(field any) string {
	switch p := field.(type) {
	case *string:
		return *p
	case *bool:
		return strconv.FormatBool(*p)
	case *int:
		return strconv.Itoa(*p)
	case *time.Duration:
		return p.String()
	}
	return ""
}
