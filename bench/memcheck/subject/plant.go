//go:build valgrind && linux && amd64

package main

// What memcheck must find, at the lines with a comment that says so, here and in
// plant_amd64.s.

var table [256]byte

func leak(s []byte) {
	leakByIndex(s[0])
	leakByBranch(s[1])
	leakByCount(s[2])
	leakInAssembly(&table, s[3])
}

//go:noescape
func leakInAssembly(table *[256]byte, secret byte)

//go:noinline
func leakByIndex(secret byte) {
	table[0] = table[secret] // leak: UninitValue
}

//go:noinline
func leakByBranch(secret byte) {
	if secret == 7 { // leak: UninitCondition
		touch(1)
	}
}

//go:noinline
func leakByCount(secret byte) {
	for i := range int(secret) { // leak: UninitCondition
		touch(i)
	}
}

//go:noinline
func touch(i int) { table[i&255]++ }
