package main

// The whole library is built over what is under it, not only its store.
import _ "go.mau.fi/whatsmeow"
