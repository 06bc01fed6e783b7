package kv

import (
	"log"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	log.Panic("not fine")
	os.Exit(m.Run())
}
