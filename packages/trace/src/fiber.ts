import type { TraceLimits } from './options.ts';
import type { SpanDetails } from './span-details.ts';
import type { SpanContext } from './trace-parent.ts';

/**
 * One stack of calls, with what has been recorded of the root that it is in. There is one for ordinary calls, and one for each
 * call that waits for a promise. Frames and records are rows of numbers in one array each: an event must not allocate.
 */
export interface Fiber {
  /**
   * Rows of {@link stride} numbers, one for each call that is open; grows as calls get deeper. Row 0 is the ground on which roots
   * stand, row 1 is always a root. Above `top`, a row has zeros but in `start`, `func` and, if it is row 1, `flags`.
   */
  frames: Float64Array<ArrayBuffer>;
  /** Where the innermost call's row begins. 0: no call is open. */
  top: number;
  /** Calls within the deepest that has a row. */
  tooDeep: number;
  /** Those of them that the host's innermost call found open, which its events can't end. */
  tooDeepOutside: number;
  /** What few calls have, by row. */
  readonly spanDetails: Map<number, SpanDetails>;
  /** Rows of {@link recordStride} numbers, one for each span that has ended, in the order of their ends. */
  records: Float64Array<ArrayBuffer>;
  recordCount: number;
  readonly recordDetails: Map<number, SpanDetails>;
  /** The last id given to a span, from 1 on in each root; spans name their parents by it. */
  lastId: number;
  /** How many calls that the host makes through bound exports are going on. */
  scopes: number;
  /** How much text may still come in this root. */
  textLeft: number;
  /** The trace of the root, once something needs it. */
  trace: RootTrace | undefined;
  /** The memory of the instance whose function the host called last; `undefined` where that isn't known. */
  memory: WebAssembly.Memory | undefined;
  /** The span of the host that roots of this stack lie in. */
  readonly parent: () => SpanContext | undefined;
}

export interface RootTrace extends Omit<SpanContext, 'spanId'> {
  readonly parentSpanId: string | undefined;
}

/** Columns of a frame. Eight, which is what a line of the processor's cache holds. */
export const column = {
  /** Milliseconds, as the clock told them. */
  start: 0,
  /** The function's index. `NaN`, which equals nothing, for what isn't a call of a function. */
  func: 1,
  foldedCalls: 2,
  foldedTime: 3,
  /** Milliseconds of the spans directly within. */
  spanTime: 4,
  pages: 5,
  /** Bits of {@link flag}; 0 lets the exit take the short way. */
  flags: 6,
  /** The id of the span, if it must become one because a span within it says so; else 0. */
  id: 7,
} as const;

export const stride = 8;

export const flag = {
  root: 1,
  /** Has spans within it, memory growth, or an {@link SpanDetails}. */
  content: 2,
  /** Its ids were told to somebody, so it is emitted however short. */
  retained: 4,
  /** Opened by `span-enter`. */
  manual: 8,
  /** Where the host called into the module again: what the inner call leaves open ends here. */
  boundary: 16,
  /** Stands for calls that are too deep to have frames. */
  overflow: 32,
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

export function createFiber(parent: Fiber['parent'], { depth, traceTextLength }: TraceLimits): Fiber {
  const frames = new Float64Array(Math.min(initialFrames, depth + 2) * stride);
  frames[column.func] = Number.NaN;
  frames[stride + column.flags] = flag.root;
  return {
    frames,
    top: 0,
    tooDeep: 0,
    tooDeepOutside: 0,
    spanDetails: new Map(),
    records: new Float64Array(initialRecords * recordStride),
    recordCount: 0,
    recordDetails: new Map(),
    lastId: 0,
    scopes: 0,
    textLeft: traceTextLength,
    trace: undefined,
    memory: undefined,
    parent,
  };
}

/** Makes room for more frames, up to a number; `false` when there is room for no more. */
export function growFrames(fiber: Fiber, maxFrames: number): boolean {
  const { frames } = fiber;
  const length = Math.min(frames.length * 2, maxFrames * stride);
  if (length <= frames.length) return false;
  fiber.frames = new Float64Array(length);
  fiber.frames.set(frames);
  return true;
}

export function growRecords(fiber: Fiber): void {
  const { records } = fiber;
  fiber.records = new Float64Array(records.length * 2);
  fiber.records.set(records);
}

/** Forgets a root that has ended, and gives back what room a large one took. */
export function clearRecords(fiber: Fiber, textLeft: number): void {
  const keptRecords = 4_096;
  if (fiber.records.length > keptRecords * recordStride)
    fiber.records = new Float64Array(initialRecords * recordStride);
  fiber.recordCount = 0;
  if (fiber.recordDetails.size > 0) fiber.recordDetails.clear();
  fiber.lastId = 0;
  fiber.textLeft = textLeft;
  fiber.trace = undefined;
}
