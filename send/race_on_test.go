//go:build race

package send

const RaceEnabled = true
