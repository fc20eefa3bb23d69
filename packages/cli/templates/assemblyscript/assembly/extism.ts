// What a plugin uses of Extism's kernel: its input, its output, and the values that the host keeps for it. What passes between
// plugin and host lies in blocks of the kernel's memory, which are known by their offsets. https://extism.org/docs/concepts/pdk

@external("extism:host/env", "input_length")
declare function kernelInputLength(): u64;
@external("extism:host/env", "input_load_u8")
declare function kernelInputLoad8(at: u64): u8;
@external("extism:host/env", "input_load_u64")
declare function kernelInputLoad64(at: u64): u64;
@external("extism:host/env", "output_set")
declare function kernelOutputSet(block: u64, length: u64): void;
@external("extism:host/env", "error_set")
declare function kernelErrorSet(block: u64): void;
@external("extism:host/env", "alloc")
declare function kernelAlloc(length: u64): u64;
@external("extism:host/env", "length")
declare function kernelLength(block: u64): u64;
@external("extism:host/env", "load_u8")
declare function kernelLoad8(at: u64): u8;
@external("extism:host/env", "load_u64")
declare function kernelLoad64(at: u64): u64;
@external("extism:host/env", "store_u8")
declare function kernelStore8(at: u64, value: u8): void;
@external("extism:host/env", "store_u64")
declare function kernelStore64(at: u64, value: u64): void;
@external("extism:host/env", "config_get")
declare function kernelConfigGet(key: u64): u64;
@external("extism:host/env", "var_get")
declare function kernelVarGet(key: u64): u64;
@external("extism:host/env", "var_set")
declare function kernelVarSet(key: u64, value: u64): void;
@external("extism:host/env", "log_info")
declare function kernelLogInfo(text: u64): void;

/** What the host has sent. */
export function inputBytes(): Uint8Array {
  const bytes = new Uint8Array(<i32>kernelInputLength());
  const length = bytes.length;
  let at = 0;
  for (; at + 8 <= length; at += 8) store<u64>(bytes.dataStart + at, kernelInputLoad64(at));
  for (; at < length; at++) store<u8>(bytes.dataStart + at, kernelInputLoad8(at));
  return bytes;
}

/** What the host has sent, which is UTF-8. */
export function inputText(): string {
  return String.UTF8.decode(inputBytes().buffer);
}

/** Sends bytes to the host as the export's output. */
export function outputBytes(bytes: Uint8Array): void {
  if (!failed) kernelOutputSet(storeBytes(bytes), bytes.length);
}

/** Sends text to the host as the export's output. */
export function outputText(text: string): void {
  outputBytes(Uint8Array.wrap(String.UTF8.encode(text, false, String.UTF8.ErrorMode.REPLACE)));
}

let failed: bool = false;

/** Fails the call: when the export returns, the host gets the message instead of its output. */
export function fail(message: string): void {
  if (!failed) kernelErrorSet(storeText(message));
  failed = true;
}

export function hasFailed(): bool {
  return failed;
}

/** Every export begins with it. */
export function beginCall(): void {
  failed = false;
}

/** What an export returns. */
export function endCall(): i32 {
  return failed ? 1 : 0;
}

/** A value of the host's configuration for this plugin. */
export function config(key: string): string | null {
  const block = kernelConfigGet(storeText(key));
  return block == 0 ? null : loadText(block);
}

/** What was kept under a name in an earlier call. */
export function variable(name: string): Uint8Array | null {
  const block = kernelVarGet(storeText(name));
  return block == 0 ? null : loadBytes(block);
}

/** Keeps bytes under a name until the plugin is unloaded. */
export function setVariable(name: string, bytes: Uint8Array): void {
  kernelVarSet(storeText(name), storeBytes(bytes));
}

/** Writes a line to the host's log. */
export function log(text: string): void {
  kernelLogInfo(storeText(text));
}

/** Puts bytes into a block for the host. @returns its offset */
export function storeBytes(bytes: Uint8Array): u64 {
  const length = bytes.length;
  const block = kernelAlloc(length);
  let at = 0;
  for (; at + 8 <= length; at += 8) kernelStore64(block + at, load<u64>(bytes.dataStart + at));
  for (; at < length; at++) kernelStore8(block + at, load<u8>(bytes.dataStart + at));
  return block;
}

/** Puts text into a block for the host, as UTF-8. @returns its offset */
export function storeText(text: string): u64 {
  return storeBytes(Uint8Array.wrap(String.UTF8.encode(text, false, String.UTF8.ErrorMode.REPLACE)));
}

/** What is in a block. */
export function loadBytes(block: u64): Uint8Array {
  const bytes = new Uint8Array(<i32>kernelLength(block));
  const length = bytes.length;
  let at = 0;
  for (; at + 8 <= length; at += 8) store<u64>(bytes.dataStart + at, kernelLoad64(block + at));
  for (; at < length; at++) store<u8>(bytes.dataStart + at, kernelLoad8(block + at));
  return bytes;
}

/** What is in a block, which is UTF-8. */
export function loadText(block: u64): string {
  return String.UTF8.decode(loadBytes(block).buffer);
}

/** Stops the plugin. AssemblyScript calls it for `throw`, and for mistakes such as an index past the end: see asconfig.json. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const what = message === null ? "abort" : message;
  const where = file === null ? "?" : file;
  fail(what + " (" + where + ":" + line.toString() + ":" + column.toString() + ")");
  unreachable();
}
