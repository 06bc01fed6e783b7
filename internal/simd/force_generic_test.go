//go:build !amd64 || purego

package simd

func forceGo() func() { return func() {} }
