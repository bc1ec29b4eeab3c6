// Package pb is the protobuf form of the wire messages and the stored records,
// generated from a transcription of their fields. The hand-written encoding of
// package signal is tested against it; nothing else uses it.
package pb

//go:generate go run -C ../../../internal/tools ./protogen ../../signal/internal/pb wire.proto storage.proto
