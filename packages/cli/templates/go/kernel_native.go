//go:build !wasip1 && !tinygo

package main

import "encoding/binary"

// A kernel for `go test`, outside WebAssembly: set kernel.input, call an export, and read kernel.output or kernel.err.
var kernel struct {
	memory             []byte
	lengths            map[uint64]uint64
	input, output, err []byte
	variables          map[string]uint64
}

func kernelInputLength() uint64             { return uint64(len(kernel.input)) }
func kernelInputLoad8(at uint64) uint32     { return uint32(kernel.input[at]) }
func kernelInputLoad64(at uint64) uint64    { return binary.LittleEndian.Uint64(kernel.input[at:]) }
func kernelLength(block uint64) uint64      { return kernel.lengths[block] }
func kernelLoad8(at uint64) uint32          { return uint32(kernel.memory[at]) }
func kernelLoad64(at uint64) uint64         { return binary.LittleEndian.Uint64(kernel.memory[at:]) }
func kernelStore8(at uint64, value uint32)  { kernel.memory[at] = byte(value) }
func kernelStore64(at uint64, value uint64) { binary.LittleEndian.PutUint64(kernel.memory[at:], value) }
func kernelOutputSet(block, length uint64)  { kernel.output = kernel.memory[block : block+length] }
func kernelErrorSet(block uint64)           { kernel.err = kernel.memory[block : block+kernel.lengths[block]] }
func kernelConfigGet(key uint64) uint64     { return 0 }
func kernelVarGet(key uint64) uint64        { return kernel.variables[string(Load(key))] }
func kernelLogInfo(text uint64)             {}

func kernelVarSet(key uint64, value uint64) {
	if kernel.variables == nil {
		kernel.variables = map[string]uint64{}
	}
	kernel.variables[string(Load(key))] = value
}

func kernelAlloc(length uint64) uint64 {
	if kernel.lengths == nil {
		kernel.lengths = map[uint64]uint64{}
		kernel.memory = make([]byte, 8)
	}
	block := uint64(len(kernel.memory))
	kernel.memory = append(kernel.memory, make([]byte, length+1)...)
	kernel.lengths[block] = length
	return block
}
