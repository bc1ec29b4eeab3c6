package send

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/internal/kdf"
	"github.com/sigcore/sigcore/internal/random"
)

const (
	// ReportingSecretSize is the size, in bytes, of the secret that a reporting
	// token is made with, and ReportingTokenSize that of the token.
	ReportingSecretSize = 32
	ReportingTokenSize  = 16

	reportingVersion = 2
)

// Field numbers of MessageContextInfo.
const (
	fieldMessageSecret    = 3
	fieldReportingVersion = 8
)

// ErrReportingSecret is a secret for a reporting token that is not of 32 bytes.
var ErrReportingSecret = errors.New("send: reporting secret is not of 32 bytes")

// Reporting is the reporting token of a message: it lets a receiver who reports
// the message prove what was sent.
type Reporting struct {
	Token [ReportingTokenSize]byte

	// Context is the encoded MessageContextInfo for the receivers, with the
	// secret and the version: the Context of the message.
	Context []byte

	// Secret is the secret of the message.
	Secret [ReportingSecretSize]byte
}

// NewReporting makes the reporting token of a message with that id. sender and
// remote are display forms: for a direct message the sending device as it is
// stored and whom the message goes to, for a group the group twice. The secret is
// that of the message if it has one of 32 bytes, else it is drawn, 32 bytes.
//
// It returns nil, without an error and without a draw, for a message that has
// none: a reaction, a vote, one that keeps another, and what has no content to
// report.
func NewReporting(message []byte, id, sender, remote string) (*Reporting, error) {
	var seen outermost
	reported := appendReported(make([]byte, 0, len(message)), message, reportedFields, 0, &seen)
	if seen.irregular {
		// Either it is malformed, or it has a group, and then no content.
		_, _, err := splitContext(message)
		return nil, err
	}
	if seen.unreported || len(reported) == 0 {
		return nil, nil
	}
	r := new(Reporting)
	if len(seen.secret) == len(r.Secret) {
		copy(r.Secret[:], seen.secret)
	} else if err := random.Read(r.Secret[:]); err != nil {
		return nil, fmt.Errorf("send: message secret: %w", err)
	}
	key, err := ReportingKey(r.Secret[:], id, sender, remote)
	if err != nil {
		return nil, err
	}
	r.Token = ReportingToken(&key, reported)
	r.Context = make([]byte, 0, 2+len(r.Secret)+2)
	r.Context = append(appendLen(r.Context, fieldMessageSecret, len(r.Secret)), r.Secret[:]...)
	r.Context = protowire.AppendTag(r.Context, fieldReportingVersion, protowire.VarintType)
	r.Context = protowire.AppendVarint(r.Context, reportingVersion)
	return r, nil
}

// Node returns the node of the token, which is the first of the Extra nodes of
// the stanza.
func (r *Reporting) Node() binary.Node {
	return binary.Node{Tag: "reporting", Content: binary.NodesContent(binary.Node{
		Tag: "reporting_token", Attrs: []binary.Attr{attr("v", "2")}, Content: binary.BytesContent(r.Token[:]),
	})}
}

// messageSecret returns the secret in an encoded MessageContextInfo, nil if there
// is none. Of several the last counts.
func messageSecret(context []byte) (secret []byte) {
	for len(context) > 0 {
		num, typ, n := protowire.ConsumeTag(context)
		if n < 0 {
			return nil
		}
		l := protowire.ConsumeFieldValue(num, typ, context[n:])
		if l < 0 {
			return nil
		}
		if num == fieldMessageSecret && typ == protowire.BytesType {
			secret, _ = protowire.ConsumeBytes(context[n:])
		}
		context = context[n+l:]
	}
	return secret
}

// ReportingKey returns the key of reporting tokens of a message: HKDF-SHA256 of
// the secret with the id, the sender and the remote. The error is
// [ErrReportingSecret].
func ReportingKey(secret []byte, id, sender, remote string) (key [32]byte, err error) {
	if len(secret) != ReportingSecretSize {
		return key, fmt.Errorf("%w: %d", ErrReportingSecret, len(secret))
	}
	// RFC 5869: extract without a salt, then the first block of expand.
	kdf.HMAC(&key, &key, secret)
	var few [128]byte
	info := append(append(append(append(few[:0], id...), sender...), remote...), "Report Token\x01"...)
	kdf.HMAC(&key, &key, info)
	return key, nil
}

// ReportingToken returns the token over a content: the first 16 bytes of its
// HMAC-SHA256.
func ReportingToken(key *[32]byte, content []byte) (token [ReportingTokenSize]byte) {
	var sum [sha256.Size]byte
	kdf.HMAC(&sum, key, content)
	copy(token[:], sum[:])
	return token
}
