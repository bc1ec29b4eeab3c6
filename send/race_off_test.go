//go:build !race

package send

const RaceEnabled = false
