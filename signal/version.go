package signal

// checkVersion checks the version byte of a message: 3 in its high nibble. The
// low nibble is the newest version that the sender speaks and says nothing
// about the message.
func checkVersion(b byte) error {
	if v := b >> 4; v != sessionVersion {
		return &VersionError{Got: uint32(v)}
	}
	return nil
}
