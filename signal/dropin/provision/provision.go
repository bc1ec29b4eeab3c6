// Package provision reads the message with which a device takes in a new one.
package provision

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"go.mau.fi/libsignal/cipher"
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/kdf"
	"go.mau.fi/libsignal/util/bytehelper"
)

// Errors of Decrypt.
var (
	ErrBadVersionNumber = errors.New("bad version number on provision message")
	ErrVerifyMACFailed  = errors.New("mismatching MAC on provision message")
)

// A ProvisionEnvelope is the encrypted message and the key it was encrypted with.
type ProvisionEnvelope struct {
	PublicKey []byte `json:"public_key"`
	Body      []byte `json:"body"`
}

// A ProvisionMessage is what the JSON of a message holds.
type ProvisionMessage struct {
	IdentityKeyPublic  []byte `json:"identity_key_public"`
	IdentityKeyPrivate []byte `json:"identity_key_private"`
	UserId             string `json:"user_id"`
	ProvisioningCode   string `json:"provisioning_code"`
	ProfileKey         []byte `json:"profile_key"`
}

// Sizes of the parts of a body: a version, an initialization vector, the
// ciphertext, a MAC.
const (
	version = 1
	ivSize  = 16
	macSize = sha256.Size
)

// Decrypt returns the JSON of the message. privateKey is base64 of 32 bytes,
// content base64 of the JSON of a ProvisionEnvelope.
func Decrypt(privateKey, content string) (string, error) {
	key, err := base64.StdEncoding.DecodeString(privateKey)
	if err != nil {
		return "", err
	}
	encoded, err := base64.StdEncoding.DecodeString(content)
	if err != nil {
		return "", err
	}
	var envelope ProvisionEnvelope
	if err := json.Unmarshal(encoded, &envelope); err != nil {
		return "", err
	}
	theirs, err := ecc.DecodePoint(envelope.PublicKey, 0)
	if err != nil {
		return "", err
	}
	body := envelope.Body
	if len(body) < 1+ivSize+macSize {
		return "", fmt.Errorf("provision message of %d bytes", len(body))
	}
	if body[0] != version {
		return "", ErrBadVersionNumber
	}
	secret := kdf.CalculateSharedSecret(theirs.PublicKey(), bytehelper.SliceToArray(key))
	keys, err := kdf.DeriveSecrets(secret[:], nil, []byte("TextSecure Provisioning Message"), 64)
	if err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, keys[32:])
	h.Write(body[:len(body)-macSize])
	if !hmac.Equal(h.Sum(nil), body[len(body)-macSize:]) {
		return "", ErrVerifyMACFailed
	}
	plaintext, err := cipher.Decrypt(body[1:1+ivSize], keys[:32], body[1+ivSize:len(body)-macSize])
	return string(plaintext), err
}
