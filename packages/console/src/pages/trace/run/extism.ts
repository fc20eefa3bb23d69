/*
 * The host functions that a plugin made for Extism imports: memory of the host's, in which the plugin finds its input and leaves its
 * output. https://github.com/extism/extism/blob/main/kernel/src/lib.rs
 */

export const extismModule = 'extism:host/env';

export interface ExtismHost {
  readonly input: Uint8Array;
  /** What the plugin is configured with. */
  readonly config: ReadonlyMap<string, string>;
  log(level: string, message: string): void;
}

export interface Extism {
  /** The functions to import, by name. */
  readonly functions: Readonly<Record<string, (...args: never[]) => number | bigint | undefined>>;
  /** What the plugin has left as its output. */
  output(): Uint8Array;
  /** What it has said went wrong. */
  error(): string | undefined;
}

/** So much a plugin may hold of the host's memory. */
const maxBytes = 256 * 1024 * 1024;

export function createExtism(host: ExtismHost): Extism {
  const memory = createBlocks();
  const input = memory.put(host.input);
  const variables = new Map<string, Uint8Array>();
  let output = { offset: 0, length: 0 };
  let failure = 0;
  const text = (offset: bigint): string => new TextDecoder().decode(memory.block(Number(offset)));
  const log = (level: string) => (offset: bigint) => host.log(level, text(offset));
  const functions = {
    alloc: (length: bigint) => BigInt(memory.allocate(Number(length))),
    free: (offset: bigint) => memory.free(Number(offset)),
    length: (offset: bigint) => BigInt(memory.length(Number(offset))),
    length_unsafe: (offset: bigint) => BigInt(memory.length(Number(offset))),
    load_u8: (offset: bigint) => (memory.has(offset, 1) ? memory.view().getUint8(Number(offset)) : 0),
    load_u64: (offset: bigint) => (memory.has(offset, 8) ? memory.view().getBigUint64(Number(offset), true) : 0n),
    store_u8(offset: bigint, value: number) {
      if (memory.has(offset, 1)) memory.view().setUint8(Number(offset), value);
    },
    store_u64(offset: bigint, value: bigint) {
      if (memory.has(offset, 8)) memory.view().setBigUint64(Number(offset), value, true);
    },
    input_length: () => BigInt(host.input.length),
    input_offset: () => BigInt(input),
    input_load_u8: (at: bigint) => (isWithin(at, 1, host.input.length) ? host.input[Number(at)] : 0),
    input_load_u64: (at: bigint) =>
      isWithin(at, 8, host.input.length) ? memory.view().getBigUint64(input + Number(at), true) : 0n,
    output_set(offset: bigint, length: bigint) {
      memory.part(Number(offset), Number(length));
      output = { offset: Number(offset), length: Number(length) };
    },
    output_offset: () => BigInt(output.offset),
    output_length: () => BigInt(output.length),
    error_set(offset: bigint) {
      failure = Number(offset);
    },
    error_get: () => BigInt(failure),
    config_get(key: bigint) {
      const value = host.config.get(text(key));
      return BigInt(value === undefined ? 0 : memory.put(new TextEncoder().encode(value)));
    },
    var_get(key: bigint) {
      const value = variables.get(text(key));
      return BigInt(value === undefined ? 0 : memory.put(value));
    },
    var_set(key: bigint, value: bigint) {
      if (value === 0n) variables.delete(text(key));
      else variables.set(text(key), memory.block(Number(value)).slice());
    },
    http_request() {
      throw new Error('The plugin asked for an HTTP request, and nothing here can make one');
    },
    http_status_code: () => 0,
    http_headers: () => 0n,
    get_log_level: () => 0,
    log_trace: log('trace'),
    log_debug: log('debug'),
    log_info: log('info'),
    log_warn: log('warn'),
    log_error: log('error'),
  };
  return {
    functions: functions as Extism['functions'],
    output: () => memory.part(output.offset, output.length).slice(),
    error: () => (failure === 0 ? undefined : text(BigInt(failure))),
  };
}

/** Beyond the end there is nothing but zeros, as in the kernel of Extism. */
function isWithin(offset: bigint, bytes: number, length: number): boolean {
  const at = BigInt.asUintN(64, offset);
  return at + BigInt(bytes) <= BigInt(length);
}

/** Pieces of a buffer that grows. Address 0 is no piece: it means nothing. */
function createBlocks() {
  let buffer = new ArrayBuffer(65_536);
  let end = 8;
  const lengths = new Map<number, number>();
  const freed = new Map<number, number[]>();
  const roomOf = (length: number): number => 8 * Math.ceil(length / 8);

  const grow = (needed: number): void => {
    if (needed <= buffer.byteLength) return;
    const larger = new ArrayBuffer(Math.min(maxBytes, Math.max(needed, 2 * buffer.byteLength)));
    new Uint8Array(larger).set(new Uint8Array(buffer));
    buffer = larger;
  };
  const allocate = (length: number): number => {
    if (length <= 0 || end + length > maxBytes - 8) return 0;
    const room = roomOf(length);
    const again = freed.get(room)?.pop();
    const offset = again ?? end;
    if (again === undefined) {
      grow(end + room);
      end += room;
    }
    lengths.set(offset, length);
    new Uint8Array(buffer).fill(0, offset, offset + room);
    return offset;
  };
  const part = (offset: number, length: number): Uint8Array => {
    if (offset < 0 || length < 0 || offset + length > end)
      throw new RangeError('The plugin named memory that is not there');
    return new Uint8Array(buffer, offset, length);
  };
  return {
    allocate,
    part,
    view: () => new DataView(buffer, 0, end),
    has: (offset: bigint, bytes: number) => isWithin(offset, bytes, end),
    length: (offset: number) => lengths.get(offset) ?? 0,
    block: (offset: number) => part(offset, lengths.get(offset) ?? 0),
    free(offset: number): void {
      const length = lengths.get(offset);
      if (length === undefined) return;
      lengths.delete(offset);
      const room = roomOf(length);
      freed.set(room, [...(freed.get(room) ?? []), offset]);
    },
    put(bytes: Uint8Array): number {
      const offset = allocate(bytes.length);
      if (offset !== 0) new Uint8Array(buffer).set(bytes, offset);
      return offset;
    },
  };
}
