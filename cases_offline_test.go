package db_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/glimdb/db"
	"github.com/glimdb/db/llm/llmtest"
	"github.com/glimdb/db/query"
)

// A process with an empty home, no cache folder and no network does everything, and nothing in it tries to
// connect.
func TestHC24_Offline(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(t.TempDir(), "glim.db")
	// Whatever honours a proxy would connect to this listener.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var tried atomic.Int64
	accepting := make(chan struct{})
	go func() {
		defer close(accepting)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			tried.Add(1)
			_ = c.Close() // the attempt counts, whatever becomes of it
		}
	}()
	proxy := "http://" + l.Addr().String()
	p := startChild(t, childOffline, dir, "HOME="+home, "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home, "TMPDIR="+home,
		"TIKTOKEN_CACHE_DIR=", "DATA_GYM_CACHE_DIR=", "HTTP_PROXY="+proxy, "HTTPS_PROXY="+proxy, "ALL_PROXY="+proxy, "NO_PROXY=")
	for {
		s := p.line()
		if s == "done" {
			break
		}
		t.Errorf("the child says %q", s)
		if strings.HasPrefix(s, "error:") {
			break
		}
	}
	p.kill()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	<-accepting
	if n := tried.Load(); n != 0 {
		t.Errorf("%d connections through the proxy", n)
	}
	left, err := os.ReadDir(home)
	if err != nil || len(left) != 0 {
		t.Errorf("%d files outside the directory, %v", len(left), err)
	}
}

// workOffline runs in the child.
func workOffline(dir string) error {
	denied := errors.New("the network is denied")
	tried := func(network, address string) (net.Conn, error) {
		fmt.Printf("tried to connect: %s %s\n", network, address)
		return nil, denied
	}
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(_ context.Context, network, address string) (net.Conn, error) { return tried(network, address) }}
	http.DefaultTransport = &http.Transport{DialContext: func(_ context.Context, network, address string) (net.Conn, error) { return tried(network, address) }}

	run := func(name string, o db.Options) error {
		d, err := db.Open(filepath.Join(dir, name), db.WithOptions(o))
		if err != nil {
			return err
		}
		defer d.Close()
		if _, err := d.Insert(ctx, doc("mill", "E Ines Calder (runs the tide mill)\nE Tide Mill (grinds at low water)\nR Ines Calder - Tide Mill (runs)\nInes Calder runs the tide mill at Gull Bay.")); err != nil {
			return err
		}
		for _, mode := range query.Modes() {
			if err := askOffline(d, mode, o.Models.Chat != nil); err != nil {
				return fmt.Errorf("%s, %s: %w", name, mode, err)
			}
		}
		for p, err := range d.Check(ctx) {
			return fmt.Errorf("check: %v %w", p, err)
		}
		return nil
	}
	o := modelled(extracting(), llmtest.NewEmbedder(8))
	o.FS = nil
	if err := errors.Join(run("rules", db.Options{}), run("stubs", o)); err != nil {
		return err
	}
	fmt.Println("done")
	return nil
}

// askOffline asks for the context, for an answer, and for one in pieces.
func askOffline(d *db.DB, mode query.Mode, answers bool) error {
	const question = "Who runs the tide mill?"
	if mode != query.Bypass {
		res, err := d.Query(ctx, question, query.Options{Mode: mode, Want: query.WantContext})
		if err != nil {
			return err
		}
		if !strings.Contains(res.Context, "tide mill") {
			return fmt.Errorf("the context lacks the mill: %s %v", res.Outcome, res.Reasons)
		}
	}
	for _, stream := range []bool{false, true} {
		res, err := d.Query(ctx, question, query.Options{Mode: mode, Want: query.WantAnswer, Stream: stream})
		if !answers {
			if !errors.Is(err, query.ErrNoModel) {
				return fmt.Errorf("without a model: %+v, %w", res, err)
			}
			continue
		}
		if err != nil {
			return err
		}
		if stream && res.Stream != nil {
			for _, err := range res.Stream {
				if err != nil {
					return err
				}
			}
		}
		if res.Outcome != query.OutcomeOK || res.Answer != "An answer." {
			return fmt.Errorf("stream %v: %s, answer %q", stream, res.Outcome, res.Answer)
		}
	}
	return nil
}
