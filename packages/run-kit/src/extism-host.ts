import {
  type KernelFunction,
  kernelModule,
  olderModule,
  type olderOnlyFunctions,
  olderPrefix,
} from '@tenon/extension-schema/host-imports';
import { type Blocks, createBlocks, offsetOf } from './blocks.ts';
import { RunFailure } from './ending.ts';

/** What an Extism plugin gets from its host: input, shared memory, variables, configuration, and a log. */
export interface ExtismHost {
  /** The host functions, under their current and their older names. */
  readonly imports: WebAssembly.Imports;
  /** Starts a call: shared memory contains only the input. Variables are kept. */
  readonly begin: (input: Uint8Array) => void;
  /** The output and the error that the call has set. */
  readonly end: () => { readonly output: Uint8Array<ArrayBuffer>; readonly error: string | undefined };
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

export interface ExtismHostOptions {
  readonly config: ReadonlyMap<string, string>;
  readonly log: (level: LogLevel, text: string) => void;
  /** The memory that the plugin shares with the host. Default: at most 1 GiB of its own. */
  readonly blocks?: Blocks;
  /** The limit of all variables together. Default: none. */
  readonly maxVariableBytes?: number;
}

type Functions<Name extends string> = Record<Name, (...args: never[]) => unknown>;

/**
 * Creates the host functions of Extism (https://extism.org/docs/concepts/pdk). The published hosts don't give access to
 * the instance, which a trace needs. Unlike those, this host makes no HTTP requests.
 */
export function createExtismHost({
  config,
  log,
  blocks: memory = createBlocks(),
  maxVariableBytes = Number.POSITIVE_INFINITY,
}: ExtismHostOptions): ExtismHost {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const variables = new Map<string, Uint8Array>();
  let variableBytes = 0;
  let input = 0n;
  let output = { address: 0n, length: 0 };
  let error = 0n;

  const begin = (bytes: Uint8Array): void => {
    memory.clear();
    input = bytes.length === 0 ? 0n : memory.put(bytes);
    output = { address: 0n, length: 0 };
    error = 0n;
  };
  const bytesAt = (address: bigint): Uint8Array<ArrayBuffer> | undefined => {
    const block = memory.at(address);
    return block && new Uint8Array(block.buffer);
  };
  const textAt = (address: bigint): string | undefined => {
    const bytes = bytesAt(address);
    return bytes && decoder.decode(bytes);
  };
  const lengthOf = (address: bigint) => BigInt(memory.at(address)?.byteLength ?? 0);
  const putIfAny = (bytes: Uint8Array | undefined) => (bytes === undefined ? 0n : memory.put(bytes));
  const logAs = (level: LogLevel) => (address: bigint) => log(level, textAt(address) ?? '');

  const functions: Functions<KernelFunction> = {
    alloc: memory.alloc,
    free: memory.free,
    length: lengthOf,
    length_unsafe: lengthOf,
    // Beyond a block, reads and writes throw. An address without a block reads as 0, and an 8-byte read of it throws.
    load_u8: (address: bigint) => memory.at(address)?.getUint8(offsetOf(address)),
    load_u64: (address: bigint) => memory.at(address)?.getBigUint64(offsetOf(address), true),
    store_u8: (address: bigint, value: number) => memory.at(address)?.setUint8(offsetOf(address), value),
    store_u64: (address: bigint, value: bigint) => memory.at(address)?.setBigUint64(offsetOf(address), value, true),
    input_set(address: bigint) {
      input = address;
    },
    input_offset: () => input,
    input_length: () => lengthOf(input),
    input_load_u8: (offset: bigint) => memory.at(input)?.getUint8(offsetOf(offset)),
    input_load_u64: (offset: bigint) => memory.at(input)?.getBigUint64(offsetOf(offset), true),
    output_set(address: bigint, length: bigint) {
      const end = offsetOf(address) + Number(BigInt.asUintN(64, length));
      if (end > (memory.at(address)?.byteLength ?? 0))
        throw new RunFailure('output_set names memory outside of a block');
      output = { address, length: Number(length) };
    },
    output_offset: () => output.address,
    output_length: () => BigInt(output.length),
    error_set(address: bigint) {
      if (address !== 0n && memory.at(address) === undefined) throw new RunFailure('error_set names no block');
      error = address;
    },
    error_get: () => error,
    reset: () => begin(new Uint8Array()),
    memory_bytes: () => BigInt(memory.totalBytes()),
    config_get(address: bigint) {
      const value = config.get(textAt(address) ?? '');
      return putIfAny(value === undefined ? undefined : encoder.encode(value));
    },
    var_get: (address: bigint) => putIfAny(variables.get(textAt(address) ?? '')),
    var_set(address: bigint, value: bigint) {
      const name = textAt(address) ?? '';
      const before = variables.get(name);
      const after = value === 0n ? undefined : (bytesAt(value)?.slice() ?? new Uint8Array());
      const costOf = (bytes: Uint8Array | undefined) => (bytes === undefined ? 0 : name.length + bytes.length);
      const total = variableBytes - costOf(before) + costOf(after);
      if (total > maxVariableBytes) throw new RunFailure(`its variables exceed the limit of ${maxVariableBytes} bytes`);
      variableBytes = total;
      if (after === undefined) variables.delete(name);
      else variables.set(name, after);
    },
    http_request() {
      throw new RunFailure('HTTP requests are not available: this host makes none');
    },
    http_status_code: () => 0,
    http_headers: () => 0n,
    // 0 is `trace`: every message is shown.
    get_log_level: () => 0,
    log_trace: logAs('trace'),
    log_debug: logAs('debug'),
    log_info: logAs('info'),
    log_warn: logAs('warn'),
    log_error: logAs('error'),
  };
  const older: Functions<(typeof olderOnlyFunctions)[number]> = {
    load_u32: (address: bigint) => memory.at(address)?.getUint32(offsetOf(address), true),
    store_u32: (address: bigint, value: number) => memory.at(address)?.setUint32(offsetOf(address), value, true),
  };
  const underOlderNames = Object.entries({ ...functions, ...older }).map(([name, call]) => [olderPrefix + name, call]);
  return {
    imports: { [kernelModule]: functions, [olderModule]: Object.fromEntries(underOlderNames) },
    begin,
    end() {
      const start = offsetOf(output.address);
      const bytes = bytesAt(output.address)?.slice(start, start + output.length);
      return { output: bytes ?? new Uint8Array(), error: textAt(error) };
    },
  };
}
