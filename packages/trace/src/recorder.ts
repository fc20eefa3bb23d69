import { type Annotations, createAnnotations } from './annotations.ts';
import { type CallStack, column, createCallStack, flag, stride } from './call-stack.ts';
import {
  type CloseReason,
  closeAbove,
  closeFunction,
  leaveTooDeep,
  openFrame,
  type RecordingContext,
  setFlag,
} from './frames.ts';
import { createAllocation } from './heap/allocation.ts';
import { recordSkippedCall } from './skipped-call.ts';

/** The state of the stack before a call by the host, to restore afterwards. */
export interface Scope extends Pick<CallStack, 'floor' | 'tooDeep' | 'memory' | 'allocation'> {
  readonly top: number;
  readonly allocatorDepth: number;
}

/** Receives the events and keeps the stack. */
export interface Recorder extends Annotations {
  readonly stack: CallStack;
  readonly enter: (func: number) => void;
  readonly exit: (func: number) => void;
  /** Begins a call by the host, of this function if known, into an instance with this memory. */
  readonly begin: (memory?: WebAssembly.Memory, func?: number) => Scope;
  /** Ends that call, and all calls that it left open, for this reason. */
  readonly end: (scope: Scope, reason?: CloseReason) => void;
  /** Ends all open calls, unless a call by the host is open. */
  readonly closeUnclosedCalls: () => void;
  /** Keeps unclosed calls open until the caller calls the returned function. */
  readonly deferUnclosedCalls: () => (reason?: CloseReason) => void;
  /** Ends all open calls when the host's code has returned, unless a call by the host marks that. */
  readonly watch: () => void;
  /** Marks the open calls as retained, so that none is folded. Returns the row of the innermost one, 0 without one. */
  readonly retain: () => number;
}

export function createRecorder(now: () => number, context: RecordingContext): Recorder {
  const { minDurationMs, counters, adaptive, limits } = context;
  const stack = createCallStack(limits);
  let isWatching = false;
  let deferrals = 0;

  // The hot path. A folded call costs two clock readings and a few loads and stores. A call that needs more has a flag in
  // its row, and its exit takes the slow path.
  const enter = (func: number): void => {
    const { frames, top } = stack;
    const at = top + stride;
    if (at >= frames.length) {
      enterSlowly(func);
      return;
    }
    if (top === 0) watch();
    if (counters !== undefined) counters.enter(func);
    frames[at + column.func] = func;
    stack.top = at;
    frames[at] = now();
  };
  const exit = (func: number): void => {
    const end = now();
    const { frames, top } = stack;
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
    stack.top = below;
    if (adaptive !== undefined) adaptive.onShortCall(func, end);
  };
  const enterSlowly = (func: number): void => {
    if (openFrame(stack, context, func, now(), 0)) counters?.enter(func);
  };
  const exitSlowly = (func: number, end: number): void => {
    if (func < 0 && adaptive?.hasInstances()) {
      const start = adaptive.takeStart();
      if (stack.tooDeep === 0) recordSkippedCall(stack, context, ~func, start, end);
    } else if (!leaveTooDeep(stack)) closeFunction(stack, context, func, end);
  };
  /**
   * Without `bind()`, no event reports that a trap has ended calls. But the host's code has returned when microtasks run, so
   * no call can be open then.
   */
  const watch = (): void => {
    if (isWatching || stack.scopes > 0) return;
    isWatching = true;
    queueMicrotask(() => {
      isWatching = false;
      closeUnclosedCalls();
    });
  };
  const closeUnclosedCalls = (reason?: CloseReason): void => {
    if (stack.scopes > 0 || deferrals > 0) return;
    closeAbove(stack, context, 0, now(), reason);
    stack.allocation.depth = 0;
  };

  return {
    ...createAnnotations(now, context, stack),
    stack,
    enter,
    exit,
    begin(called, func) {
      const { top, floor, tooDeep, memory, allocation } = stack;
      const allocatorDepth = allocation.depth;
      // The fast path of an exit does not check the floor.
      if (top > 0) setFlag(stack, top, flag.needsSlowExit);
      // A root is always a span.
      else adaptive?.resume(func);
      stack.floor = top;
      stack.tooDeep = 0;
      stack.scopes++;
      if (called !== undefined) stack.memory = called;
      if (allocatorDepth > 0) stack.allocation = createAllocation();
      return { top, floor, tooDeep, memory, allocation, allocatorDepth };
    },
    end(scope, reason) {
      stack.scopes--;
      closeAbove(stack, context, scope.top, now(), reason);
      stack.floor = scope.floor;
      stack.tooDeep = scope.tooDeep;
      stack.memory = scope.memory;
      stack.allocation = scope.allocation;
      stack.allocation.depth = scope.allocatorDepth;
    },
    watch,
    closeUnclosedCalls: () => closeUnclosedCalls(),
    deferUnclosedCalls() {
      deferrals++;
      return (reason) => {
        deferrals--;
        closeUnclosedCalls(reason);
      };
    },
    retain() {
      for (let at = stack.top; at > 0; at -= stride) setFlag(stack, at, flag.retained);
      return stack.top;
    },
  };
}
