import { type Allocation, createAllocation } from './heap/allocation.ts';
import type { TraceLimits } from './options.ts';
import type { SpanDetails } from './span-details.ts';
import type { SpanContext } from './trace-parent.ts';

/**
 * The stack of open calls, and the records of the current root. Frames and records are rows of numbers in one array each,
 * because an event must not allocate.
 */
export interface CallStack {
  /**
   * Rows of {@link stride} numbers, one for each open call; grows as calls get deeper. Row 0 is below all roots, row 1 is
   * always a root. Above `top`, all columns are 0 except `start`, `func`, and the `flags` of row 1.
   */
  frames: Float64Array<ArrayBuffer>;
  /** The offset of the innermost call's row. 0: no call is open. */
  top: number;
  /** `top` when the host last called into the module. Events of that call can't end calls at or below it. */
  floor: number;
  /** Open calls above `top` that have no row, because the stack is full. */
  tooDeep: number;
  /** Details that few calls have, by the offset of the call's row. */
  readonly spanDetails: Map<number, SpanDetails>;
  /** Rows of {@link recordStride} numbers, one for each ended span, in the order of their ends. */
  records: Float64Array<ArrayBuffer>;
  recordCount: number;
  /** Details that few spans have, by the offset of the span's row. */
  readonly recordDetails: Map<number, SpanDetails>;
  /** The last id given to a span of this root; 0 for none. Records refer to their parents by id. */
  lastId: number;
  /** How many of the host's calls through bound exports are open. */
  scopes: number;
  /** UTF-16 code units that the module may still report in this root. */
  textLeft: number;
  /** The trace of the root; set when first needed. */
  trace: RootTrace | undefined;
  /** The memory of the instance that the host called last, if known. */
  memory: WebAssembly.Memory | undefined;
  /** The allocator call of the host's last call into the module. */
  allocation: Allocation;
}

export interface RootTrace extends Omit<SpanContext, 'spanId'> {
  readonly parentSpanId: string | undefined;
}

/** Columns of a frame. Eight doubles fill one cache line. */
export const column = {
  /** Milliseconds of the clock. */
  start: 0,
  /** The function's index; `NaN`, which equals nothing, for manual spans. */
  func: 1,
  foldedCalls: 2,
  foldedTime: 3,
  /** Milliseconds of the direct child spans. */
  spanTime: 4,
  pages: 5,
  /** Bits of {@link flag}; 0 lets the exit take the fast path. */
  flags: 6,
  /** The span's id, if a child span refers to it; else 0. */
  id: 7,
} as const;

export const stride = 8;

export const flag = {
  root: 1,
  /** The call has child spans, memory growth, {@link SpanDetails}, or, inside it, calls by the host or calls too deep for a row. */
  needsSlowExit: 2,
  /** The host knows its ids, so it becomes a span, however short. */
  retained: 4,
  /** Opened by `span-enter`. */
  manual: 8,
} as const;

export const recordColumn = {
  start: 0,
  end: 1,
  func: 2,
  foldedCalls: 3,
  foldedTime: 4,
  pages: 5,
  id: 6,
  parentId: 7,
} as const;

export const recordStride = 8;

const initialFrames = 32;
const initialRecords = 16;

export function createCallStack({ depth, traceTextLength }: TraceLimits): CallStack {
  const frames = new Float64Array(Math.min(initialFrames, depth + 1) * stride);
  frames[column.func] = Number.NaN;
  frames[stride + column.flags] = flag.root;
  return {
    frames,
    top: 0,
    floor: 0,
    tooDeep: 0,
    spanDetails: new Map(),
    records: new Float64Array(initialRecords * recordStride),
    recordCount: 0,
    recordDetails: new Map(),
    lastId: 0,
    scopes: 0,
    textLeft: traceTextLength,
    trace: undefined,
    memory: undefined,
    allocation: createAllocation(),
  };
}

/** Makes room for more frames, up to `maxFrames`; `false` if the stack is full. */
export function growFrames(stack: CallStack, maxFrames: number): boolean {
  const { frames } = stack;
  const length = Math.min(frames.length * 2, maxFrames * stride);
  if (length <= frames.length) return false;
  stack.frames = new Float64Array(length);
  stack.frames.set(frames);
  return true;
}

export function growRecords(stack: CallStack): void {
  const { records } = stack;
  stack.records = new Float64Array(records.length * 2);
  stack.records.set(records);
}

/** Deletes the records of an ended root, and frees the memory of a large one. */
export function clearRecords(stack: CallStack, textLeft: number): void {
  const retainedRecords = 4_096;
  if (stack.records.length > retainedRecords * recordStride)
    stack.records = new Float64Array(initialRecords * recordStride);
  stack.recordCount = 0;
  if (stack.recordDetails.size > 0) stack.recordDetails.clear();
  stack.lastId = 0;
  stack.textLeft = textLeft;
  stack.trace = undefined;
}
