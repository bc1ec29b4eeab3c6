package send

// Kinds of requests to one's own devices.
const (
	peerLinkPreview       = 2
	peerHistorySync       = 3
	peerPlaceholderResend = 4
	peerNonceFetch        = 9

	// In a protocolMessage the request, and in it the kind.
	fieldPeerRequest     = 16
	fieldPeerRequestKind = 1
)

// ClassifyPeer reads off an encoded message to an own device the priority of its
// push: HighForce and PrivacySensitive of a [PeerMessage]. The error is
// [ErrMalformed].
func ClassifyPeer(message []byte) (highForce, privacySensitive bool, err error) {
	f, err := scan(message)
	if err != nil {
		return false, false, err
	}
	inner, err := scan(f[fieldProtocol])
	if err != nil || !inner.has(fieldPeerRequest) {
		return false, false, err
	}
	switch inner.number(fieldPeerRequest, fieldPeerRequestKind) {
	case peerHistorySync:
		return true, true, nil
	case peerLinkPreview, peerPlaceholderResend, peerNonceFetch:
		return true, false, nil
	}
	return false, false, nil
}
