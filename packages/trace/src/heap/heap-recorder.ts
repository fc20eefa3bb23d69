import type { CallStack } from '../call-stack.ts';
import type { FunctionNames } from '../names.ts';
import type { TraceLimits } from '../options.ts';
import { createCallPaths } from './call-paths.ts';
import type { HeapPath, HeapProfile } from './heap-profile.ts';
import { createTotalsCounter, type TotalsCounter } from './heap-totals.ts';
import { createLiveAllocations, type LiveAllocations } from './live-allocations.ts';

/** A pointer or a size: `i32`, or `i64` where memories have 64-bit addresses. */
type Address = number | bigint;

export interface HeapDependencies {
  readonly now: () => number;
  readonly limits: TraceLimits;
  readonly stack: CallStack;
  /** Notices when the host's code has returned, so that a trap does not leave an allocator's call open. */
  readonly watch: () => void;
}

/** Counts the allocations of a module's instances by call path. */
export interface HeapRecorder {
  /** The imports of one instance, to which its allocators report. Pointers of instances differ. */
  readonly imports: () => WebAssembly.ModuleImports;
  /** `undefined` before the first report. */
  readonly profile: (names: FunctionNames, originUnixNano: bigint) => HeapProfile | undefined;
}

const maxInstances = 1_000;

/** Where an instance's allocations are counted. */
interface Heap {
  readonly live: LiveAllocations;
  readonly own: TotalsCounter;
}

export function createHeapRecorder({ now, limits, stack, watch }: HeapDependencies): HeapRecorder {
  const paths = createCallPaths(limits.callPaths);
  const all = createTotalsCounter(now);
  const instances: TotalsCounter[] = [];
  let droppedAllocations = 0;
  let others: TotalsCounter | undefined;

  function newCounter(): TotalsCounter {
    if (instances.length < maxInstances) {
      const counter = createTotalsCounter(now);
      instances.push(counter);
      return counter;
    }
    others ??= createTotalsCounter(now);
    return others;
  }

  function release({ live, own }: Heap, slot: number): void {
    const size = live.sizeAt(slot);
    paths.freed(live.nodeAt(slot), size);
    live.removeAt(slot);
    own.freed(size);
    all.freed(size);
  }

  function free(heap: Heap, pointer: number): void {
    const slot = heap.live.find(pointer);
    if (slot !== -1) {
      release(heap, slot);
      return;
    }
    heap.own.freedUnknown();
    all.freedUnknown();
  }

  function allocate(heap: Heap, func: number, pointer: number, size: number): void {
    const { live, own } = heap;
    // The allocator gives out only free memory, so its free was not seen.
    const slot = live.find(pointer);
    if (slot !== -1) release(heap, slot);
    const node = paths.nodeOf(stack, func);
    if (!live.add(pointer, size, node)) {
      droppedAllocations++;
      return;
    }
    paths.allocated(node, size);
    own.allocated(size);
    all.allocated(size);
  }

  function createHooks(): WebAssembly.ModuleImports {
    let heap: Heap | undefined;
    const enter = (func: number, pointerGiven: Address, sizeGiven: Address): void => {
      heap ??= { live: createLiveAllocations(limits.allocations), own: newCounter() };
      const pointer = unsigned(pointerGiven);
      const size = unsigned(sizeGiven);
      const { allocation } = stack;
      if (allocation.depth++ === 0) {
        if (stack.scopes === 0) watch();
        allocation.func = func;
        allocation.pointer = pointer;
        allocation.size = size;
        return;
      }
      // A garbage collector frees other memory while it allocates.
      if (pointer === 0 || size !== 0 || pointer === allocation.pointer) return;
      const slot = heap.live.find(pointer);
      if (slot !== -1) release(heap, slot);
    };
    const exit = (pointerGiven: Address): void => {
      const { allocation } = stack;
      if (heap === undefined || allocation.depth === 0 || --allocation.depth > 0) return;
      const pointer = unsigned(pointerGiven);
      const { func, pointer: old, size } = allocation;
      if (pointer === 0 && size > 0) {
        heap.own.failed();
        all.failed();
        return;
      }
      if (old !== 0) free(heap, old);
      if (pointer !== 0) allocate(heap, func, pointer, size);
    };
    return { 'allocator-enter': enter, 'allocator-exit': exit };
  }

  return {
    imports: createHooks,
    profile(names, originUnixNano) {
      if (instances.length === 0) return undefined;
      const found: HeapPath[] = [];
      paths.visit((node) => found.push({ ...node, path: node.path.map((func) => names.describe(func)) }));
      return {
        ...all.snapshot(originUnixNano),
        paths: found,
        instances: instances.map((counter) => counter.snapshot(originUnixNano)),
        dropped: { allocations: droppedAllocations, paths: paths.shortened() },
      };
    },
  };
}

function unsigned(value: Address): number {
  return typeof value === 'number' ? value >>> 0 : Number(BigInt.asUintN(64, value));
}
