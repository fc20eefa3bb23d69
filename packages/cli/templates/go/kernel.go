//go:build wasip1 || tinygo

package main

// The functions of Extism's kernel: https://extism.org/docs/concepts/pdk

//go:wasmimport extism:host/env input_length
func kernelInputLength() uint64

//go:wasmimport extism:host/env input_load_u8
func kernelInputLoad8(at uint64) uint32

//go:wasmimport extism:host/env input_load_u64
func kernelInputLoad64(at uint64) uint64

//go:wasmimport extism:host/env output_set
func kernelOutputSet(block uint64, length uint64)

//go:wasmimport extism:host/env error_set
func kernelErrorSet(block uint64)

//go:wasmimport extism:host/env alloc
func kernelAlloc(length uint64) uint64

//go:wasmimport extism:host/env length
func kernelLength(block uint64) uint64

//go:wasmimport extism:host/env load_u8
func kernelLoad8(at uint64) uint32

//go:wasmimport extism:host/env load_u64
func kernelLoad64(at uint64) uint64

//go:wasmimport extism:host/env store_u8
func kernelStore8(at uint64, value uint32)

//go:wasmimport extism:host/env store_u64
func kernelStore64(at uint64, value uint64)

//go:wasmimport extism:host/env config_get
func kernelConfigGet(key uint64) uint64

//go:wasmimport extism:host/env var_get
func kernelVarGet(key uint64) uint64

//go:wasmimport extism:host/env var_set
func kernelVarSet(key uint64, value uint64)

//go:wasmimport extism:host/env log_info
func kernelLogInfo(text uint64)
