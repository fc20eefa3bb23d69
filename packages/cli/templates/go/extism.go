package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

func main() {}

func collect(length uint64, load64 func(uint64) uint64, load8 func(uint64) uint32) []byte {
	data := make([]byte, length)
	at := uint64(0)
	for ; at+8 <= length; at += 8 {
		binary.LittleEndian.PutUint64(data[at:], load64(at))
	}
	for ; at < length; at++ {
		data[at] = byte(load8(at))
	}
	return data
}

// Input returns what the host has sent.
func Input() []byte {
	return collect(kernelInputLength(), kernelInputLoad64, kernelInputLoad8)
}

// Load returns what is in a block of the kernel's memory.
func Load(block uint64) []byte {
	load64 := func(at uint64) uint64 { return kernelLoad64(block + at) }
	return collect(kernelLength(block), load64, func(at uint64) uint32 { return kernelLoad8(block + at) })
}

// Store puts bytes into a block for the host, and returns its offset.
func Store(data []byte) uint64 {
	block := kernelAlloc(uint64(len(data)))
	at := 0
	for ; at+8 <= len(data); at += 8 {
		kernelStore64(block+uint64(at), binary.LittleEndian.Uint64(data[at:]))
	}
	for ; at < len(data); at++ {
		kernelStore8(block+uint64(at), uint32(data[at]))
	}
	return block
}

// Config returns a value of the host's configuration for this plugin.
func Config(key string) (string, bool) {
	block := kernelConfigGet(Store([]byte(key)))
	return string(Load(block)), block != 0
}

// Variable returns what was kept under a name in an earlier call.
func Variable(name string) ([]byte, bool) {
	block := kernelVarGet(Store([]byte(name)))
	return Load(block), block != 0
}

// SetVariable keeps bytes under a name until the plugin is unloaded.
func SetVariable(name string, data []byte) { kernelVarSet(Store([]byte(name)), Store(data)) }

// Log writes a line to the host's log.
func Log(text string) { kernelLogInfo(Store([]byte(text))) }

// Uint8List is a list of numbers in JSON; []byte is base64.
type Uint8List []uint8

func (list Uint8List) MarshalJSON() ([]byte, error) {
	numbers := make([]uint16, len(list))
	for at, value := range list {
		numbers[at] = uint16(value)
	}
	return json.Marshal(numbers)
}

func (list *Uint8List) UnmarshalJSON(data []byte) error {
	var numbers []uint16
	if err := json.Unmarshal(data, &numbers); err != nil {
		return err
	}
	*list = make(Uint8List, len(numbers))
	for at, value := range numbers {
		if value > 255 {
			return fmt.Errorf("[%d]: %d is out of range", at, value)
		}
		(*list)[at] = uint8(value)
	}
	return nil
}

func endCall(output []byte, err error) int32 {
	if err != nil {
		kernelErrorSet(Store([]byte(err.Error())))
		return 1
	}
	kernelOutputSet(Store(output), uint64(len(output)))
	return 0
}

func decode(data []byte, value any) error {
	if !json.Valid(data) {
		return errors.New("input: invalid JSON")
	}
	if err := json.Unmarshal(data, value); err != nil {
		return fmt.Errorf("input%w", within("", err))
	}
	return nil
}

func encode(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return data, nil
}

type pathError struct{ path, words string }

func (err *pathError) Error() string { return err.path + ": " + err.words }

// within puts a step before the path of a mistake.
func within(step string, err error) error {
	var inner *pathError
	if errors.As(err, &inner) {
		return &pathError{step + inner.path, inner.words}
	}
	return &pathError{step, err.Error()}
}

type field struct {
	name       string
	isRequired bool
	isNullable bool
	value      any
}

func readObject(data []byte, fields ...field) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	if object == nil {
		return errors.New("expected an object, found null")
	}
	for _, entry := range fields {
		raw, isPresent := object[entry.name]
		step := "." + entry.name
		isNull := bytes.Equal(bytes.TrimSpace(raw), []byte("null"))
		switch {
		case !isPresent && entry.isRequired:
			return &pathError{step, "is missing"}
		case isPresent && isNull && entry.isRequired && !entry.isNullable:
			return &pathError{step, "expected a value, found null"}
		case isPresent:
			if err := json.Unmarshal(raw, entry.value); err != nil {
				return within(step, err)
			}
		}
	}
	return nil
}

func readName(data []byte, names []string) (string, error) {
	var name string
	if err := json.Unmarshal(data, &name); err != nil {
		return "", err
	}
	return name, oneOf(name, names)
}

func oneOf(name string, names []string) error {
	for _, known := range names {
		if known == name {
			return nil
		}
	}
	return fmt.Errorf("expected one of %q, found %q", names, name)
}
