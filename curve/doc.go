// Package curve implements X25519, XEdDSA and Ed25519.
package curve
