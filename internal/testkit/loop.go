package testkit

import "testing"

// Loop configures EveryCrashPoint and EveryFault. The zero value is a full loop from an empty disk.
type Loop struct {
	// Seed steers what each crash keeps; it is printed when the test fails.
	Seed uint64
	// Base is the disk every run starts from (a copy of it); nil is an empty one. A store filled once and
	// cloned here makes the loop much cheaper than filling it in run.
	Base *CrashFS
	// From is the first operation that fails; 0 and 1 are the very first.
	From int
	// Step is the distance between two points; 0 and 1 try each one.
	Step int
	// Points ends the loop after so many points even if no run got through; 0 is no limit.
	Points int
}

func (l Loop) disk(seed uint64) *CrashFS {
	if l.Base == nil {
		return NewCrashFS(seed)
	}
	return l.Base.Clone(seed)
}

// EveryCrashPoint runs run on a disk that loses power at its k-th changing operation, then verify on what
// the power loss left, for k = 1, 2, 3, ... until a run gets through; it returns the number of points tried.
//
// run opens a store on fs, works, records what was acknowledged, closes, and returns the first error; an
// error is expected when the power went, and fails the test when it did not. verify opens a store on the
// new disk, and checks that everything acknowledged is there and the rest whole or absent; survived tells
// that run got through. Neither may run parallel to the other; both end the test through t as usual.
func EveryCrashPoint(t testing.TB, l Loop, run func(fs *CrashFS) error, verify func(fs *CrashFS, survived bool)) int {
	t.Helper()
	return l.points(t, "power loss", func(fs *CrashFS, k int) bool {
		fs.CrashAt(k)
		err := run(fs)
		survived := !fs.Crashed()
		if survived && err != nil {
			t.Fatalf("run failed without a crash: %v", err)
		}
		verify(fs.Crash(), survived)
		return survived
	})
}

// EveryFault is EveryCrashPoint with a disk that answers fault from the k-th changing operation on. Before
// verify the disk is healed. verify is called twice: on the disk as the failed process left it, and on
// what a power loss right after the failure leaves of it.
func EveryFault(t testing.TB, l Loop, fault error, run func(fs *CrashFS) error, verify func(fs *CrashFS, survived bool)) int {
	t.Helper()
	return l.points(t, fault.Error(), func(fs *CrashFS, k int) bool {
		fs.FailAt(k, fault)
		return faulted(t, fs, func() bool { return fs.Ops() < k }, run, verify)
	})
}

// EveryTransientFault is EveryFault with a disk on which only the k-th changing operation fails.
func EveryTransientFault(t testing.TB, l Loop, fault error, run func(fs *CrashFS) error, verify func(fs *CrashFS, survived bool)) int {
	t.Helper()
	return l.points(t, "once "+fault.Error(), func(fs *CrashFS, k int) bool {
		fs.FailOnce(k, fault)
		return faulted(t, fs, func() bool { return fs.Ops() < k }, run, verify)
	})
}

// EveryReadFault is EveryFault with a disk that cannot be read from the k-th reading operation on.
func EveryReadFault(t testing.TB, l Loop, fault error, run func(fs *CrashFS) error, verify func(fs *CrashFS, survived bool)) int {
	t.Helper()
	return l.points(t, "reads "+fault.Error(), func(fs *CrashFS, k int) bool {
		fs.FailReadsAt(k, fault)
		return faulted(t, fs, func() bool { return fs.Reads() < k }, run, verify)
	})
}

// faulted runs one point. untouched tells whether run ended before the fault.
func faulted(t testing.TB, fs *CrashFS, untouched func() bool, run func(fs *CrashFS) error, verify func(fs *CrashFS, survived bool)) bool {
	t.Helper()
	err := run(fs)
	survived := untouched()
	if survived && err != nil {
		t.Fatalf("run failed without a fault: %v", err)
	}
	fs.Heal()
	verify(fs.Clone(uint64(fs.Ops())), survived)
	verify(fs.Crash(), survived)
	return survived
}

func (l Loop) points(t testing.TB, what string, point func(fs *CrashFS, k int) bool) int {
	t.Helper()
	k := max(l.From, 1)
	defer func() {
		if t.Failed() {
			t.Logf("%s at operation %d, seed %d", what, k, l.Seed)
		}
	}()
	for n := 1; ; n++ {
		survived := point(l.disk(l.Seed+uint64(k)<<20), k)
		if survived || t.Failed() || n == l.Points {
			return n
		}
		k += max(l.Step, 1)
	}
}
