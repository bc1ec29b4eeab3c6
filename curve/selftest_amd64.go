//go:build !purego

package curve

const selfTestFailed = "curve: kernel self-test failed"
