import { type Annotations, createAnnotations } from './annotations.ts';
import { column, createFiber, type Fiber, flag, stride } from './fiber.ts';
import {
  type CloseReason,
  closeAbove,
  closeFunction,
  hasFlag,
  innermostSpan,
  leaveTooDeep,
  openFrame,
  type RecordingContext,
  setFlag,
} from './frames.ts';
import type { SpanContext } from './trace-parent.ts';

/** Where a scope of calls began, so that the calls that it leaves open can be closed. */
export interface Scope {
  readonly fiber: Fiber;
  readonly top: number;
  readonly tooDeep: number;
  readonly tooDeepOutside: number;
  readonly memory: WebAssembly.Memory | undefined;
}

/** Takes the events, and keeps the stacks. */
export interface Recorder extends Annotations {
  readonly enter: (func: number) => void;
  readonly exit: (func: number) => void;
  /** Begins a scope of calls, which the host makes into an instance with this memory. */
  readonly begin: (memory?: WebAssembly.Memory) => Scope;
  /** Ends it; calls that it left open end with this reason. */
  readonly end: (scope: Scope, reason?: CloseReason) => void;
  /** A stack of its own, whose roots lie in this span of the host. */
  readonly newFiber: (parent: SpanContext | undefined) => Fiber;
  /** Has events go to another stack during an action. */
  readonly within: <Result>(fiber: Fiber, action: () => Result) => Result;
  /** Has events go to another stack; answers the one to which they went. */
  readonly switchTo: (fiber: Fiber) => Fiber;
  readonly current: () => Fiber;
  /** Ends everything that is open in a stack. */
  readonly finish: (fiber: Fiber, reason?: CloseReason) => void;
  /** Ends what is open in the stack of ordinary calls, unless the host's own calls there are going on. */
  readonly closeUnclosedCalls: () => void;
  /** Leaves to the caller what is open until it calls what this answers. */
  readonly deferUnclosedCalls: () => (reason?: CloseReason) => void;
  /** Marks the open calls as retained, so that none is folded. Returns the row of the innermost one, 0 without one. */
  readonly retain: () => number;
}

export function createRecorder(
  now: () => number,
  context: RecordingContext,
  parent: () => SpanContext | undefined,
): Recorder {
  const { minDurationMs, counters, limits, dropped } = context;
  const main = createFiber(parent, limits);
  let fiber = main;
  const current = () => fiber;
  let isWatching = false;
  let holders = 0;

  // The two functions that everything else here is for. A folded call costs two readings of the clock and a few loads
  // and stores; whatever else there is to do for a call is done where its row says so.
  const enter = (func: number): void => {
    const { frames, top } = fiber;
    const at = top + stride;
    if (at + stride >= frames.length) {
      enterSlowly(func);
      return;
    }
    if (top === 0) watch();
    if (counters !== undefined) counters.enter(func);
    frames[at + column.func] = func;
    fiber.top = at;
    frames[at] = now();
  };
  const exit = (func: number): void => {
    const end = now();
    const { frames, top } = fiber;
    const duration = end - (frames[top] as number);
    if (frames[top + column.func] !== func || frames[top + column.flags] !== 0 || !(duration < minDurationMs)) {
      exitSlowly(func, end);
      return;
    }
    if (counters !== undefined) counters.exit(func, duration, duration - (frames[top + column.foldedTime] as number));
    const below = top - stride;
    frames[below + column.foldedCalls] =
      (frames[below + column.foldedCalls] as number) + (frames[top + column.foldedCalls] as number) + 1;
    frames[below + column.foldedTime] = (frames[below + column.foldedTime] as number) + duration;
    frames[top + column.foldedCalls] = 0;
    frames[top + column.foldedTime] = 0;
    fiber.top = below;
  };
  const enterSlowly = (func: number): void => {
    if (openFrame(fiber, context, func, now(), 0)) counters?.enter(func);
  };
  const exitSlowly = (func: number, end: number): void => {
    if (!leaveTooDeep(fiber, context)) closeFunction(fiber, context, func, end);
  };
  /**
   * Without `bind()`, no event tells that a trap has ended calls. But nothing of them is left when the host's own code has returned
   * to its event loop, which is when microtasks run.
   */
  const watch = (): void => {
    if (isWatching || fiber !== main || fiber.scopes > 0) return;
    isWatching = true;
    queueMicrotask(() => {
      isWatching = false;
      closeUnclosedCalls();
    });
  };
  const closeUnclosedCalls = (reason?: CloseReason): void => {
    if (main.scopes === 0 && holders === 0) closeAbove(main, context, 0, now(), reason);
  };

  return {
    ...createAnnotations(now, context, current),
    enter,
    exit,
    begin(called) {
      const { top, tooDeep, tooDeepOutside, memory } = fiber;
      // A boundary for which there is no room is counted with what is too deep, but is no call that was dropped.
      if (top > 0 && tooDeep === 0 && !openFrame(fiber, context, Number.NaN, 0, flag.boundary)) dropped.depth--;
      fiber.tooDeepOutside = fiber.tooDeep;
      fiber.scopes++;
      if (called !== undefined) fiber.memory = called;
      return { fiber, top, tooDeep, tooDeepOutside, memory };
    },
    end(scope, reason) {
      scope.fiber.scopes--;
      scope.fiber.memory = scope.memory;
      closeAbove(scope.fiber, context, scope.top, now(), reason);
      scope.fiber.tooDeep = scope.tooDeep;
      scope.fiber.tooDeepOutside = scope.tooDeepOutside;
    },
    newFiber(parent) {
      const made = createFiber(() => parent, limits);
      made.memory = fiber.memory;
      return made;
    },
    within(inner, action) {
      const outer = fiber;
      fiber = inner;
      try {
        return action();
      } finally {
        fiber = outer;
      }
    },
    switchTo(next) {
      const previous = fiber;
      fiber = next;
      return previous;
    },
    current,
    finish(finished, reason) {
      closeAbove(finished, context, 0, now(), reason);
    },
    closeUnclosedCalls: () => closeUnclosedCalls(),
    deferUnclosedCalls() {
      holders++;
      return (reason) => {
        holders--;
        closeUnclosedCalls(reason);
      };
    },
    retain() {
      for (let at = fiber.top; at > 0; at -= stride) {
        if (!hasFlag(fiber, at, flag.boundary | flag.overflow)) setFlag(fiber, at, flag.retained);
      }
      return innermostSpan(fiber);
    },
  };
}
