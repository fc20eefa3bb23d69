import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { InstrumentError, type InstrumentOptions, instrument } from '../src/index.ts';
import { createTrace, functionNames } from './support/trace.ts';

/** Instruments with `memory`, without traced functions, and collects the events of allocators. */
function runWithMemory(input: Uint8Array, options: InstrumentOptions = {}, env: WebAssembly.ModuleImports = {}) {
  const { bytes, report } = instrument(input, { allowed: [], memory: true, ...options });
  const names = functionNames(bytes);
  const events: string[] = [];
  const hooks = {
    'allocator-enter': (func: number, pointer: number | bigint, size: number | bigint) =>
      events.push(`${names.get(func)} ${pointer} ${size}`),
    'allocator-exit': (pointer: number | bigint) => events.push(`= ${pointer}`),
  };
  const module = new WebAssembly.Module(new Uint8Array(bytes));
  const { exports } = new WebAssembly.Instance(module, {
    ...createTrace().imports,
    env,
    'tenon:instrument': hooks,
  }) as unknown as { exports: Record<string, (...args: unknown[]) => unknown> };
  return { exports, report, takeEvents: () => events.splice(0) };
}

/** Allocators of fixed results, whose callers reach them in every way. */
const allocators = wat(`(module
  (memory 1)
  (table 2 funcref) (elem (i32.const 0) $malloc)
  (func $malloc (export "malloc") (param i32) (result i32) (i32.mul (local.get 0) (i32.const 10)))
  (func $calloc (param i32 i32) (result i32) (call $malloc (i32.mul (local.get 0) (local.get 1))))
  (func $realloc (param i32 i32) (result i32) (i32.const 0))
  (func $free (param i32))
  (func $posix_memalign (param i32 i32 i32) (result i32)
    (i32.store (local.get 0) (i32.const 640))
    (i32.const 0))
  (func (export "direct") (result i32) (call $free (i32.const 7)) (call $calloc (i32.const 2) (i32.const 3)))
  (func (export "table") (result i32) (call_indirect (param i32) (result i32) (i32.const 5) (i32.const 0)))
  (func (export "reference") (result i32)
    (table.set (i32.const 1) (ref.func $malloc))
    (call_indirect (param i32) (result i32) (i32.const 6) (i32.const 1)))
  (func (export "tail") (result i32) (return_call $malloc (i32.const 4)))
  (func (export "realloc") (result i32) (call $realloc (i32.const 9) (i32.const 8)))
  (func (export "aligned") (result i32)
    (call $posix_memalign (i32.const 16) (i32.const 64) (i32.const 3))))`);

describe('instrument() with memory', () => {
  it('reports calls of allocators, however they are made', () => {
    const { exports, report, takeEvents } = runWithMemory(allocators);
    assert.deepEqual(report.addedImports, ['allocator-enter', 'allocator-exit']);
    const expected: Record<string, string[]> = {
      direct: ['free 7 0', '= 0', 'calloc 0 6', 'malloc 0 6', '= 60', '= 60'],
      table: ['malloc 0 5', '= 50'],
      reference: ['malloc 0 6', '= 60'],
      tail: ['malloc 0 4', '= 40'],
      realloc: ['realloc 9 8', '= 0'],
      aligned: ['posix_memalign 0 3', '= 640'],
    };
    for (const [name, events] of Object.entries(expected)) {
      exports[name]?.();
      assert.deepEqual(takeEvents(), events, name);
    }
    assert.equal(exports.malloc?.(2), 20);
    assert.deepEqual(takeEvents(), ['malloc 0 2', '= 20']);
  });

  it('leaves the other options and the bodies as they are', () => {
    const { report } = runWithMemory(allocators, { allowed: undefined });
    assert.deepEqual(report.addedImports, ['enter', 'exit', 'allocator-enter', 'allocator-exit']);
    assert.equal(report.tracedFunctions, report.totalFunctions);
    assert.deepEqual(instrument(allocators).bytes, instrument(allocators, { memory: false }).bytes);
  });

  it('reports 64-bit pointers of a 64-bit memory', () => {
    const { exports, takeEvents } = runWithMemory(
      wat(`(module (memory i64 1)
        (func (export "malloc") (param i64) (result i64) (i64.const 0x100000000))
        (func (export "free") (param i64)))`),
    );
    exports.malloc?.(3n);
    exports.free?.(0x100000000n);
    assert.deepEqual(takeEvents(), ['malloc 0 3', '= 4294967296', 'free 4294967296 0', '= 0']);
  });

  it('reports an allocator that throws as one that returned no memory', () => {
    for (const exceptionHandling of ['legacy', 'exnref'] as const) {
      const { exports, takeEvents } = runWithMemory(
        wat(`(module (tag $full) (memory 1)
          (func $_Znwm (export "new") (param i32) (result i32) (throw $full)))`),
        { exceptionHandling },
      );
      assert.throws(() => exports.new?.(3));
      assert.deepEqual(takeEvents(), ['_Znwm 0 3', '= 0']);
    }
  });

  it('knows the names of C, C++, Rust, TinyGo and AssemblyScript', () => {
    const isKnown = (name: string) => {
      const input = wat(`(module (memory 1) (func (export "${name}") (param i32 i32) (result i32) (i32.const 8)))`);
      return instrument(input, { memory: true }).report.addedImports.includes('allocator-enter');
    };
    const known = [
      'malloc', 'aligned_alloc', 'operator new(unsigned long)', 'operator new[](unsigned int, std::nothrow_t const&)',
      '_Znwm', '_Znwj', '_Znam', '_ZnamSt11align_val_tRKSt9nothrow_t', '__rust_alloc', '__rdl_alloc_zeroed',
      '_RNvCs9d3_7___rustc12___rust_alloc', '__rustc::__rust_alloc', '__rustc[1a2b]::__rdl_alloc', 'runtime.alloc',
      '~lib/rt/tlsf/__alloc', '~lib/rt/itcms/__new', '__new',
    ]; // biome-ignore format: one list
    for (const name of known) assert.ok(isKnown(name), name);
    for (const name of ['mallocs', '_Znwx', 'operator newer', 'a::malloc', '__rust_alloc_error_handler']) {
      assert.ok(!isKnown(name), name);
    }
  });

  it('prefers the allocator of AssemblyScript to what calls it, which returns other addresses than are freed', () => {
    const { exports, report, takeEvents } = runWithMemory(
      wat(`(module (memory 1)
        (func $alloc (export "~lib/rt/tlsf/__alloc") (param i32) (result i32) (i32.const 16))
        (func (export "~lib/rt/itcms/__new") (param i32 i32) (result i32) (i32.add (call $alloc (local.get 0)) (i32.const 16))))`),
    );
    exports['~lib/rt/itcms/__new']?.(5, 0);
    assert.deepEqual(takeEvents(), ['alloc 0 5', '= 16']);
    assert.deepEqual(
      report.notes.map(({ code }) => code),
      ['free_not_found'],
    );
  });

  it('takes names of the caller, with the signature of a known allocator', () => {
    const input = wat(`(module (memory 1)
      (func (export "get") (param i32 i32) (result i32) (i32.const 64))
      (func (export "malloc") (param i32) (result i32) (i32.const 8)))`);
    const { exports, report, takeEvents } = runWithMemory(input, { memory: ['get=calloc', 'missing=free'] });
    exports.get?.(2, 4);
    exports.malloc?.(1);
    assert.deepEqual(takeEvents(), ['get 0 8', '= 64']);
    assert.deepEqual(
      report.notes.map(({ code }) => code),
      ['name_not_found'],
    );
    for (const memory of [['get'], ['get=grow'], ['=malloc'], 'malloc', [1]]) {
      const run = () => instrument(input, { memory } as InstrumentOptions);
      assert.throws(
        run,
        (error) => error instanceof InstrumentError && error.code === 'invalid_config',
        String(memory),
      );
    }
  });

  it('leaves out functions whose type does not fit, imports, and modules without allocators, with a note', () => {
    const notesOf = (text: string) => instrument(wat(text), { memory: true }).report.notes.map(({ code }) => code);
    const odd = [
      '(func (export "malloc") (param i64) (result i32) (i32.const 1))',
      '(func (export "malloc") (param i32))',
      '(func (export "free") (result i32) (i32.const 1))',
      '(func (export "realloc") (param i32) (result i32) (i32.const 1))',
      '(func (export "posix_memalign") (param i32 i32 i32) (result i64) (i64.const 1))',
    ];
    for (const func of odd) assert.deepEqual(notesOf(`(module (memory 1) ${func})`), ['allocator_not_traced'], func);
    const noMemory = '(module (func (export "posix_memalign") (param i32 i32 i32) (result i32) (i32.const 1)))';
    assert.deepEqual(notesOf(noMemory), ['allocator_not_traced']);
    assert.deepEqual(notesOf('(module (import "env" "malloc" (func (param i32) (result i32))))'), [
      'allocator_not_found',
    ]);
  });

  it('refuses to instrument a module again', () => {
    const { bytes } = instrument(allocators, { allowed: [], memory: true });
    assert.throws(() => instrument(bytes), { code: 'already_instrumented' });
  });
});
