package kv

import (
	_ "example.com/one/deep"
	_ "example.com/one/two/deep"
	_ "example.com/three/v2"
	_ "example.com/unknown"
	_ "os"
)
