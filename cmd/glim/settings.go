package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/glimdb/db/llm/openai"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// settings say which database and which models to use. Every field has one name in three spellings: a
// flag (--chat-model), an environment variable (GLIM_CHAT_MODEL) and a key of the configuration file
// (chat_model). A flag beats the environment, the environment beats the file, the file beats the default.
type settings struct {
	DB         string        `yaml:"db"`
	Offline    bool          `yaml:"offline"`
	BaseURL    string        `yaml:"base_url"`
	APIKey     string        `yaml:"api_key"` // never a flag: it would show in the process list
	ChatModel  string        `yaml:"chat_model"`
	EmbedModel string        `yaml:"embed_model"`
	EmbedDim   int           `yaml:"embed_dim"`
	EmbedURL   string        `yaml:"embed_base_url"`
	EmbedKey   string        `yaml:"embed_api_key"` // never a flag either
	Timeout    time.Duration `yaml:"timeout"`
	Language   string        `yaml:"language"`
}

const (
	defaultDB     = "./glim.db"
	configName    = "glim.yaml"
	configEnv     = "GLIM_CONFIG"
	maxConfigSize = 1 << 20 // a configuration file; anything larger is another file by mistake
)

// setting ties one field to its three names.
type setting struct {
	flag, env string
	altEnv    string // a name that other tools use, too
	usage     string
	field     func(*settings) any // pointer to the field
	noFlag    bool
}

var settingTable = []setting{
	{flag: "db", env: "GLIM_DB", usage: "database `directory`", field: func(s *settings) any { return &s.DB }},
	{flag: "offline", env: "GLIM_OFFLINE", usage: "use no model even if one is configured", field: func(s *settings) any { return &s.Offline }},
	{flag: "base-url", env: "GLIM_BASE_URL", altEnv: "OPENAI_BASE_URL", usage: "`URL` of an OpenAI-compatible endpoint", field: func(s *settings) any { return &s.BaseURL }},
	{flag: "api-key", env: "GLIM_API_KEY", altEnv: "OPENAI_API_KEY", noFlag: true, field: func(s *settings) any { return &s.APIKey }},
	{flag: "chat-model", env: "GLIM_CHAT_MODEL", usage: "chat `model` for extraction, keywords, summaries and answers (none: offline rules)", field: func(s *settings) any { return &s.ChatModel }},
	{flag: "embed-model", env: "GLIM_EMBED_MODEL", usage: "embedding `model` (none: offline lexical vectors)", field: func(s *settings) any { return &s.EmbedModel }},
	{flag: "embed-dim", env: "GLIM_EMBED_DIM", usage: "`dimension` of the embedding model's vectors", field: func(s *settings) any { return &s.EmbedDim }},
	{flag: "embed-base-url", env: "GLIM_EMBED_BASE_URL", usage: "`URL` for embeddings when it is another one", field: func(s *settings) any { return &s.EmbedURL }},
	{flag: "embed-api-key", env: "GLIM_EMBED_API_KEY", noFlag: true, field: func(s *settings) any { return &s.EmbedKey }},
	{flag: "timeout", env: "GLIM_TIMEOUT", usage: "time limit of one model call", field: func(s *settings) any { return &s.Timeout }},
	{flag: "language", env: "GLIM_LANGUAGE", usage: "language of extracted descriptions", field: func(s *settings) any { return &s.Language }},
}

func defaultSettings() settings {
	return settings{DB: defaultDB, Timeout: 4 * time.Minute, Language: "English"}
}

// addFlags declares the flags; resolve reads them.
func addFlags(fs *pflag.FlagSet, into *settings, config *string) {
	fs.StringVar(config, "config", "", "configuration `file` (default ./"+configName+", then the user's configuration folder)")
	for _, t := range settingTable {
		if t.noFlag {
			continue
		}
		usage := t.usage + " [" + t.env + "]"
		switch p := t.field(into).(type) {
		case *string:
			fs.StringVar(p, t.flag, *p, usage)
		case *bool:
			fs.BoolVar(p, t.flag, *p, usage)
		case *int:
			fs.IntVar(p, t.flag, *p, usage)
		case *time.Duration:
			fs.DurationVar(p, t.flag, *p, usage)
		}
	}
}

// resolve applies file, environment and flags over the defaults, in that order.
func resolve(flags *pflag.FlagSet, fromFlags settings, config string, getenv func(string) string) (settings, error) {
	s := defaultSettings()
	if err := fromFile(&s, config, getenv); err != nil {
		return s, usage(err)
	}
	for _, t := range settingTable {
		name, v := t.env, getenv(t.env)
		if v == "" && t.altEnv != "" {
			name, v = t.altEnv, getenv(t.altEnv)
		}
		if v != "" {
			if err := assign(t.field(&s), v); err != nil {
				return s, usage(fmt.Errorf("environment variable %s: %w", name, err))
			}
		}
		if !t.noFlag && flags.Changed(t.flag) {
			copyField(t.field(&s), t.field(&fromFlags))
		}
	}
	if s.DB == "" {
		return s, usage(errors.New("the database directory is empty: give one with --db"))
	}
	if s.EmbedModel != "" && s.EmbedDim < 1 && openai.KnownDim(s.EmbedModel) == 0 && !s.Offline {
		return s, usage(fmt.Errorf("embedding model %q needs --embed-dim, the length of its vectors", s.EmbedModel))
	}
	return s, nil
}

func assign(field any, v string) (err error) {
	switch p := field.(type) {
	case *string:
		*p = v
	case *bool:
		*p, err = strconv.ParseBool(v)
	case *int:
		*p, err = strconv.Atoi(v)
	case *time.Duration:
		*p, err = time.ParseDuration(v)
	}
	return err
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
func fromFile(s *settings, name string, getenv func(string) string) error {
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
			return fmt.Errorf("configuration %s: %w", c, err)
		}
		dec := yaml.NewDecoder(bytes.NewReader(raw))
		dec.KnownFields(true)
		if err := dec.Decode(s); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("configuration %s: %w", c, err)
		}
		return nil
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
