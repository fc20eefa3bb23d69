/** What an Extism plugin gets from its host: its input, memory that both see, variables, configuration, and a log. */
export interface ExtismHost {
  /** The functions of `extism:host/env`. */
  readonly imports: WebAssembly.ModuleImports;
  /** Begins a call: memory is empty but for the input, variables stay. */
  readonly begin: (input: Uint8Array) => void;
  /** What the call has set as its output, and as its error. */
  readonly end: () => { readonly output: Uint8Array; readonly error: string | undefined };
}

export interface ExtismHostOptions {
  readonly config: ReadonlyMap<string, string>;
  readonly log: (text: string) => void;
}

/** The names of the functions that {@link createExtismHost} offers. */
export const extismFunctions = [
  ...['alloc', 'free', 'length', 'length_unsafe', 'load_u8', 'load_u64', 'store_u8', 'store_u64'],
  ...['input_length', 'input_offset', 'input_load_u8', 'input_load_u64', 'output_set', 'error_set'],
  ...['config_get', 'var_get', 'var_set', 'http_request', 'http_status_code', 'http_headers', 'get_log_level'],
  ...['log_trace', 'log_debug', 'log_info', 'log_warn', 'log_error'],
];

/** Of a plugin's memory here; beyond it `alloc` traps, as it does when the real host has none left. */
const maxMemoryBytes = 1 << 30;
/** Addresses begin here: 0 stands for nothing. */
const firstAddress = 16;
const alignment = 16;

/**
 * The part of Extism's host that a plugin sees (https://extism.org/docs/concepts/pdk), written anew: the published ones
 * instantiate the module themselves, and give nobody the instance that a trace is bound to. Unlike these it makes no HTTP requests.
 */
export function createExtismHost({ config, log }: ExtismHostOptions): ExtismHost {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const variables = new Map<string, Uint8Array>();
  const memory = createBlocks();
  let input = { address: 0, length: 0 };
  let output = new Uint8Array();
  let error: string | undefined;

  const textAt = (address: bigint) => decoder.decode(memory.block(address));
  const put = (bytes: Uint8Array | undefined): bigint => (bytes === undefined ? 0n : memory.store(bytes));
  const withinInput = (offset: bigint, size: number): bigint => {
    if (offset < 0n || Number(offset) + size > input.length) throw new Error(`The input ends before ${offset}`);
    return BigInt(input.address) + offset;
  };
  const logAs = (level: string) => (address: bigint) => log(`${level}: ${textAt(address)}`);

  const imports: Record<string, (...args: never[]) => unknown> = {
    alloc: (length: bigint) => memory.alloc(Number(BigInt.asUintN(64, length))),
    free: (address: bigint) => memory.free(address),
    length: (address: bigint) => BigInt(memory.lengthOf(address)),
    length_unsafe: (address: bigint) => BigInt(memory.lengthOf(address)),
    load_u8: (address: bigint) => memory.view(address, 1).getUint8(0),
    load_u64: (address: bigint) => memory.view(address, 8).getBigUint64(0, true),
    store_u8: (address: bigint, value: number) => memory.view(address, 1).setUint8(0, value),
    store_u64: (address: bigint, value: bigint) => memory.view(address, 8).setBigUint64(0, value, true),
    input_length: () => BigInt(input.length),
    input_offset: () => BigInt(input.address),
    input_load_u8: (offset: bigint) => memory.view(withinInput(offset, 1), 1).getUint8(0),
    input_load_u64: (offset: bigint) => memory.view(withinInput(offset, 8), 8).getBigUint64(0, true),
    output_set(address: bigint, length: bigint) {
      output = memory.bytes(address, Number(BigInt.asUintN(64, length))).slice();
    },
    error_set(address: bigint) {
      error = address === 0n ? undefined : textAt(address);
    },
    config_get(address: bigint) {
      const value = config.get(textAt(address));
      return put(value === undefined ? undefined : encoder.encode(value));
    },
    var_get: (address: bigint) => put(variables.get(textAt(address))),
    var_set(address: bigint, value: bigint) {
      if (value === 0n) variables.delete(textAt(address));
      else variables.set(textAt(address), memory.block(value).slice());
    },
    http_request() {
      throw new Error('tenon trace makes no HTTP requests');
    },
    http_status_code: () => 0,
    http_headers: () => 0n,
    get_log_level: () => 2,
    log_trace: logAs('trace'),
    log_debug: logAs('debug'),
    log_info: logAs('info'),
    log_warn: logAs('warning'),
    log_error: logAs('error'),
  };
  return {
    imports,
    begin(bytes) {
      memory.clear();
      const address = bytes.length === 0 ? 0 : Number(memory.store(bytes));
      input = { address, length: bytes.length };
      output = new Uint8Array();
      error = undefined;
    },
    end: () => ({ output, error }),
  };
}

/** Memory in blocks, one after the other. What is freed is used again only when all is cleared: a call is short. */
function createBlocks() {
  let buffer = new ArrayBuffer(65_536);
  let next = firstAddress;
  /** Lengths of blocks, by where they begin. */
  const blocks = new Map<number, number>();

  function grow(bytes: number): void {
    if (bytes > maxMemoryBytes) throw new Error('The plugin has used up the memory that it shares with its host');
    if (bytes <= buffer.byteLength) return;
    buffer = buffer.transfer(Math.min(maxMemoryBytes, Math.max(bytes, buffer.byteLength * 2)));
  }

  function alloc(length: number): bigint {
    const address = next;
    grow(address + length);
    next = Math.ceil((address + length + 1) / alignment) * alignment;
    blocks.set(address, length);
    return BigInt(address);
  }

  function bytes(address: bigint, length: number): Uint8Array {
    const at = Number(BigInt.asUintN(64, address));
    if (at + length > Math.min(next, buffer.byteLength))
      throw new Error(`There is no block at ${at} with ${length} bytes`);
    return new Uint8Array(buffer, at, length);
  }

  return {
    alloc,
    bytes,
    free: (address: bigint) => void blocks.delete(Number(address)),
    lengthOf: (address: bigint) => blocks.get(Number(address)) ?? 0,
    block: (address: bigint) => bytes(address, blocks.get(Number(address)) ?? 0),
    view(address: bigint, length: number) {
      const found = bytes(address, length);
      return new DataView(found.buffer, found.byteOffset, length);
    },
    store(content: Uint8Array): bigint {
      const address = alloc(content.length);
      bytes(address, content.length).set(content);
      return address;
    },
    clear() {
      blocks.clear();
      new Uint8Array(buffer, 0, Math.min(next, buffer.byteLength)).fill(0);
      next = firstAddress;
    },
  };
}
