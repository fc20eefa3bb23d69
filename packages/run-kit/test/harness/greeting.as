// A test module in AssemblyScript, without an SDK. It tests a plugin that exports `greet` and `count_vowels`.

@external("extism:host/env", "alloc")
declare function alloc(length: u64): u64;
@external("extism:host/env", "length")
declare function lengthOf(block: u64): u64;
@external("extism:host/env", "load_u8")
declare function load8(at: u64): u8;
@external("extism:host/env", "store_u8")
declare function store8(at: u64, value: u8): void;
@external("extism:host/env", "error_set")
declare function errorSet(block: u64): void;

@external("xtp:test/harness", "call")
declare function harnessCall(name: u64, input: u64): u64;
@external("xtp:test/harness", "time")
declare function harnessTime(name: u64, input: u64): u64;
@external("xtp:test/harness", "assert")
declare function harnessAssert(name: u64, value: u64, reason: u64): void;
@external("xtp:test/harness", "group")
declare function harnessGroup(name: u64): void;
@external("xtp:test/harness", "reset")
declare function reset(): void;
@external("xtp:test/harness", "mock_input")
declare function mockInput(): u64;

function toBlock(text: string): u64 {
  const bytes = Uint8Array.wrap(String.UTF8.encode(text));
  const block = alloc(bytes.length);
  for (let at = 0; at < bytes.length; at++) store8(block + at, bytes[at]);
  return block;
}

function textOf(block: u64): string {
  const bytes = new Uint8Array(<i32>lengthOf(block));
  for (let at = 0; at < bytes.length; at++) bytes[at] = load8(block + at);
  return String.UTF8.decode(bytes.buffer);
}

function callText(name: string, input: string): string {
  return textOf(harnessCall(toBlock(name), toBlock(input)));
}

function assertEqual(name: string, actual: string, expected: string): void {
  harnessAssert(toBlock(name), actual == expected ? 1 : 0, toBlock('expected "' + expected + '", found "' + actual + '"'));
}

export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  errorSet(toBlock(message === null ? "aborted" : message));
  unreachable();
}

export function test(): i32 {
  const given = mockInput();
  assertEqual("greets with the mock input", callText("greet", given == 0 ? "Ada" : textOf(given)), "Hello, Ada!");

  harnessGroup(toBlock("vowels"));
  reset();
  assertEqual("of a word", callText("count_vowels", "umbrella"), '{"count":3}');
  assertEqual("of no text", callText("count_vowels", ""), '{"count":0}');

  harnessGroup(toBlock("time"));
  const nanoseconds = harnessTime(toBlock("greet"), toBlock("é".repeat(1000)));
  harnessAssert(toBlock("greets within a minute"), nanoseconds < 60_000_000_000 ? 1 : 0, 0);
  return 0;
}
