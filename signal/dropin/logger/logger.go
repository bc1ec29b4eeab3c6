// Package logger is where a program says what becomes of log lines. The module
// writes none by itself: errors say what happened, and nothing about keys or
// messages is ever formatted.
package logger

import "strings"

// A Loggable takes log lines.
type Loggable interface {
	Debug(caller, message string)
	Info(caller, message string)
	Warning(caller, message string)
	Error(caller, message string)
	Configure(settings string)
}

// Logger takes the lines. Lines go nowhere while it is nil.
var Logger Loggable

// Setup sets Logger.
func Setup(logger *Loggable) {
	if logger != nil {
		Logger = *logger
	}
}

// Configure hands settings to Logger.
func Configure(settings string) {
	if Logger != nil {
		Logger.Configure(settings)
	}
}

// Debug hands a line to Logger.
func Debug(msg ...interface{}) { write(Loggable.Debug, msg) }

// Info hands a line to Logger.
func Info(msg ...interface{}) { write(Loggable.Info, msg) }

// Warning hands a line to Logger.
func Warning(msg ...interface{}) { write(Loggable.Warning, msg) }

// Error hands a line to Logger.
func Error(msg ...interface{}) { write(Loggable.Error, msg) }

// write joins what is text and leaves out the rest: whatever a caller passes, no
// key is printed.
func write(to func(Loggable, string, string), msg []interface{}) {
	if Logger == nil {
		return
	}
	var line strings.Builder
	for _, part := range msg {
		switch v := part.(type) {
		case string:
			line.WriteString(v)
		case error:
			line.WriteString(v.Error())
		}
	}
	to(Logger, "", line.String())
}
