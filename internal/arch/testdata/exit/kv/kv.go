package kv

import (
	"log"
	"os"
)

func f() {
	log.Print("fine")
	log.Fatalf("not fine")
	os.Exit(1)
}
