package main

// A tier is a set of kernels of sigcore, by the name that internal/impl gives
// it. Other libraries have one, unnamed here.
type tier struct{ name string }

var defaultTier = tier{"default"}

func tiersOf(lib string) []tier { return []tier{defaultTier} }

func selectTier(tier) {}
