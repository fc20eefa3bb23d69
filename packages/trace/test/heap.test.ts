import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type InstrumentOptions, instrument } from '@tenon/instrument';
import { createRandom } from '../../../test/helpers/random.ts';
import { wat } from '../../../test/helpers/wat.ts';
import { type HeapProfile, start, type TraceOptions } from '../src/index.ts';
import { createManualClock } from './support/manual-clock.ts';

type Exports = Record<string, (...args: unknown[]) => unknown>;

function traced(text: string, options: TraceOptions = {}, given: InstrumentOptions = {}) {
  const clock = createManualClock();
  const { bytes } = instrument(wat(text), { memory: true, ...given });
  const context = start(bytes, { clock, ...options });
  const heap = (): HeapProfile => {
    const profile = context.heapProfile();
    assert.ok(profile);
    return profile;
  };
  const exportsOf = (imports?: WebAssembly.Imports) => context.instantiateSync(imports).exports as unknown as Exports;
  return { context, clock, bytes, heap, exportsOf };
}

/** Live allocations and bytes by call path. */
function livePaths({ paths }: HeapProfile): Record<string, string> {
  return Object.fromEntries(
    paths.map(({ path, liveAllocations, liveBytes, allocations, allocatedBytes }) => [
      path.map(({ name }) => name).join(';'),
      `${liveAllocations}/${allocations} ${liveBytes}/${allocatedBytes}`,
    ]),
  );
}

/** An allocator that gives out the pointers that the host chooses, and calls that pass through several of its functions. */
const puppet = `(module
  (import "host" "pointer" (func $pointer (result i32)))
  (memory (export "memory") 1)
  (func $malloc (export "malloc") (param i32) (result i32) (call $pointer))
  (func $calloc (export "calloc") (param i32 i32) (result i32)
    (call $malloc (i32.mul (local.get 0) (local.get 1))))
  (func $free (export "free") (param i32) (if (i32.eq (local.get 0) (i32.const 13)) (then (unreachable))))
  (func $realloc (export "realloc") (param i32 i32) (result i32) (local i32)
    (local.set 2 (call $malloc (local.get 1)))
    (if (local.get 2) (then (call $free (local.get 0))))
    (local.get 2))
  (func $a (export "a") (param i32) (result i32) (call $malloc (local.get 0)))
  (func $b (export "b") (param i32) (result i32) (call $a (local.get 0))))`;

function puppetHeap(options: TraceOptions = {}, given: InstrumentOptions = {}) {
  let pointer = 0;
  const found = traced(puppet, options, { banned: ['host.pointer', 'malloc', 'free'], ...given });
  const instantiate = () => found.exportsOf({ host: { pointer: () => pointer } });
  const give = (next: number) => {
    pointer = next;
  };
  return { ...found, give, instantiate };
}

describe('heapProfile()', () => {
  it('is undefined until an allocator reports', () => {
    const { context, instantiate } = puppetHeap();
    instantiate();
    assert.equal(context.heapProfile(), undefined);
  });

  it('balances allocations and frees by the path of traced calls', () => {
    const { heap, give, instantiate } = puppetHeap();
    const { a, b, free, malloc } = instantiate();
    give(8);
    a?.(100);
    give(16);
    b?.(50);
    give(24);
    b?.(7);
    give(32);
    malloc?.(3);
    free?.(16);
    free?.(0);
    assert.deepEqual(livePaths(heap()), {
      'a;malloc': '1/1 100/100',
      'b;a;malloc': '1/2 7/57',
      malloc: '1/1 3/3',
    });
    const { allocations, frees, liveAllocations, liveBytes, peakBytes, unknownFrees } = heap();
    assert.deepEqual([allocations, frees, liveAllocations, liveBytes], [4, 1, 3, 110]);
    assert.deepEqual([peakBytes, unknownFrees], [160, 0]);
  });

  it('counts an allocator that calls another one once', () => {
    const { heap, give, instantiate } = puppetHeap();
    const { calloc, realloc, free } = instantiate();
    give(8);
    calloc?.(3, 4);
    give(16);
    realloc?.(8, 20);
    assert.deepEqual(livePaths(heap()), { calloc: '0/1 0/12', realloc: '1/1 20/20' });
    free?.(16);
    const { allocations, frees, liveBytes, unknownFrees } = heap();
    assert.deepEqual([allocations, frees, liveBytes, unknownFrees], [2, 2, 0, 0]);
  });

  it('counts failures, and leaves memory that could not be reallocated', () => {
    const { heap, give, instantiate } = puppetHeap();
    const { malloc, realloc } = instantiate();
    give(8);
    malloc?.(5);
    give(0);
    malloc?.(6);
    realloc?.(8, 1_000);
    const { allocations, frees, failures, liveBytes } = heap();
    assert.deepEqual([allocations, frees, failures, liveBytes], [1, 0, 2, 5]);
  });

  it('counts frees of unknown pointers, and pointers that are given out again', () => {
    const { heap, give, instantiate } = puppetHeap();
    const { malloc, free } = instantiate();
    free?.(64);
    give(8);
    malloc?.(5);
    malloc?.(6);
    const { allocations, frees, unknownFrees, liveBytes } = heap();
    assert.deepEqual([allocations, frees, unknownFrees, liveBytes], [2, 1, 1, 6]);
  });

  for (const isBound of [true, false]) {
    it(`is in step after a trap in an allocator, ${isBound ? 'with bind()' : 'with events alone'}`, async () => {
      const { context, bytes, heap, give, instantiate } = puppetHeap();
      let pointer = 0;
      const exports = isBound
        ? instantiate()
        : (new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)), {
            ...context.imports,
            host: { pointer: () => pointer },
          }).exports as unknown as Exports);
      const next = (value: number) => {
        give(value);
        pointer = value;
      };
      next(13);
      exports.malloc?.(5);
      assert.throws(() => exports.free?.(13), WebAssembly.RuntimeError);
      await Promise.resolve();
      next(16);
      exports.malloc?.(6);
      const { allocations, frees, liveBytes } = heap();
      assert.deepEqual([allocations, frees, liveBytes], [2, 0, 11]);
    });
  }

  it('is in step after exceptions that the module catches', () => {
    const { heap, exportsOf } = traced(`(module
      (tag $full) (memory 1)
      (func $malloc (param i32) (result i32) (i32.const 8))
      (func $_Znwm (param i32) (result i32)
        (if (i32.gt_u (local.get 0) (i32.const 99)) (then (throw $full)))
        (call $malloc (local.get 0)))
      (func $main (export "main")
        (try (do (drop (call $_Znwm (i32.const 100)))) (catch_all))
        (drop (call $_Znwm (i32.const 10)))))`);
    exportsOf().main?.();
    const { failures } = heap();
    assert.equal(failures, 1);
    assert.deepEqual(livePaths(heap()), { 'main;_Znwm': '1/1 10/10' });
  });

  it('counts what a garbage collector frees while it allocates', () => {
    const { heap, exportsOf } = traced(`(module
      (memory 1)
      (global $next (mut i32) (i32.const 8))
      (func $free (param i32))
      (func $collect (if (i32.eq (global.get $next) (i32.const 24)) (then (call $free (i32.const 8)))))
      (func $malloc (export "malloc") (param i32) (result i32)
        (call $collect)
        (global.get $next)
        (global.set $next (i32.add (global.get $next) (i32.const 8)))))`);
    const { malloc } = exportsOf();
    for (const size of [1, 2, 4]) malloc?.(size);
    const { allocations, frees, liveBytes } = heap();
    assert.deepEqual([allocations, frees, liveBytes], [3, 1, 6]);
  });

  it('separates instances, whose pointers are equal, and calls of one from within an allocator of another', () => {
    const { heap, give, instantiate } = puppetHeap();
    const [one, other] = [instantiate(), instantiate()];
    give(8);
    one.malloc?.(5);
    other.malloc?.(6);
    other.free?.(8);
    const { instances, liveBytes, peakBytes } = heap();
    assert.deepEqual([liveBytes, peakBytes], [5, 11]);
    assert.deepEqual(
      instances.map((each) => [each.liveBytes, each.peakBytes]),
      [
        [5, 5],
        [0, 6],
      ],
    );
  });

  it('counts a call that the host makes during an allocation by itself', () => {
    const found = traced(puppet, {}, { banned: ['host.pointer', 'malloc', 'free'] });
    let depth = 0;
    const exports = found.exportsOf({
      host: {
        pointer() {
          const own = ++depth;
          if (own === 1) exports.malloc?.(3);
          return own * 8;
        },
      },
    });
    exports.malloc?.(5);
    const { allocations, liveBytes } = found.heap();
    assert.deepEqual([allocations, liveBytes], [2, 8]);
  });

  it('tells when the memory was at its peak', () => {
    const { heap, clock, give, instantiate } = puppetHeap();
    const { malloc, free } = instantiate();
    give(8);
    malloc?.(5);
    clock.moveNs(1_000_000);
    free?.(8);
    const first = heap().peakTimeUnixNano;
    clock.moveNs(1_000_000);
    malloc?.(4);
    assert.equal(heap().peakTimeUnixNano, first);
    malloc?.(40);
    clock.moveNs(1_000_000);
    assert.equal(heap().peakTimeUnixNano, (first as bigint) + 2_000_000n);
  });

  it('has limits, beyond which it counts what it drops', () => {
    const { heap, give, instantiate } = puppetHeap({ limits: { allocations: 2, callPaths: 2 } });
    const { malloc, a, b, free } = instantiate();
    for (const pointer of [8, 16, 24]) {
      give(pointer);
      malloc?.(1);
    }
    assert.deepEqual(heap().dropped, { allocations: 1, paths: 0 });
    for (const pointer of [8, 16, 24]) free?.(pointer);
    const { liveBytes, unknownFrees } = heap();
    assert.deepEqual([liveBytes, unknownFrees], [0, 1]);
    give(8);
    a?.(5);
    give(16);
    b?.(7);
    assert.equal(heap().dropped.paths > 0, true);
    assert.equal(heap().liveBytes, 12);
  });

  it('shortens deep paths to the innermost calls', () => {
    const { heap, exportsOf } = traced(`(module
      (memory 1)
      (func $malloc (param i32) (result i32) (i32.const 8))
      (func $down (export "down") (param i32)
        (if (local.get 0)
          (then (call $down (i32.sub (local.get 0) (i32.const 1))))
          (else (drop (call $malloc (i32.const 3)))))))`);
    exportsOf().down?.(5_000);
    const [only] = heap().paths;
    assert.equal(only?.path.length, 128);
    assert.deepEqual(
      only?.path.slice(-2).map(({ name }) => name),
      ['down', 'malloc'],
    );
  });

  it('agrees with a model over random calls', () => {
    const random = createRandom(19);
    const { heap, give, instantiate } = puppetHeap();
    const { a, b, malloc, realloc, free } = instantiate();
    const live = new Map<number, number>();
    let allocations = 0;
    let frees = 0;
    let unknown = 0;
    let peak = 0;
    const add = (pointer: number, size: number) => {
      allocations++;
      live.set(pointer, size);
      peak = Math.max(
        peak,
        live.values().reduce((sum, each) => sum + each, 0),
      );
    };
    for (let step = 0; step < 5_000; step++) {
      const pointer = (random.below(400) + 2) * 8;
      const size = random.below(1_000) + 1;
      give(pointer);
      if (!live.has(pointer)) {
        random.pick([a, b, malloc])?.(size);
        add(pointer, size);
      } else if (random.chance(0.2)) {
        const other = (random.below(400) + 500) * 8;
        if (live.has(other)) continue;
        give(other);
        realloc?.(pointer, size);
        live.delete(pointer);
        frees++;
        add(other, size);
      } else {
        const freed = random.chance(0.05) ? 4 : pointer;
        free?.(freed);
        if (live.delete(freed)) frees++;
        else unknown++;
      }
    }
    const found = heap();
    assert.deepEqual(
      [found.allocations, found.frees, found.unknownFrees, found.liveAllocations, found.liveBytes, found.peakBytes],
      [allocations, frees, unknown, live.size, live.values().reduce((sum, each) => sum + each, 0), peak],
    );
    assert.equal(
      found.paths.reduce((sum, path) => sum + path.liveBytes, 0),
      found.liveBytes,
    );
  });
});
