import { type Annotations, createAnnotations } from './annotations.ts';
import { column, createFiber, type Fiber, special, stride } from './fiber.ts';
import {
  type Collecting,
  closeAbove,
  closeFunction,
  type Ending,
  has,
  innermostSpan,
  leaveTooDeep,
  mark,
  openFrame,
} from './frames.ts';
import type { SpanContext } from './trace-parent.ts';

/** Where a scope of calls began, so that whatever it leaves open can be ended. */
export interface Mark {
  readonly fiber: Fiber;
  readonly top: number;
  readonly tooDeep: number;
  readonly tooDeepOutside: number;
  readonly memory: WebAssembly.Memory | undefined;
}

/** Takes the events, and keeps the stacks. */
export interface Collector extends Annotations {
  readonly enter: (func: number) => void;
  readonly exit: (func: number) => void;
  /** Begins a scope of calls, which the host makes into an instance with this memory. */
  readonly begin: (memory?: WebAssembly.Memory) => Mark;
  /** Ends it, and as `ending` says what it left open. */
  readonly end: (mark: Mark, ending?: Ending) => void;
  /** A stack of its own, whose roots lie in this span of the host. */
  readonly newFiber: (parent: SpanContext | undefined) => Fiber;
  /** Has events go to another stack during an action. */
  readonly within: <Result>(fiber: Fiber, action: () => Result) => Result;
  /** Has events go to another stack; answers the one to which they went. */
  readonly switchTo: (fiber: Fiber) => Fiber;
  readonly current: () => Fiber;
  /** Ends everything that is open in a stack. */
  readonly finish: (fiber: Fiber, ending?: Ending) => void;
  /** Ends what is open in the stack of ordinary calls, unless the host's own calls there are going on. */
  readonly endLeftovers: () => void;
  /** Leaves to the caller what is open until it calls what this answers. */
  readonly holdLeftovers: () => (ending?: Ending) => void;
  /** Keeps the spans that are open from being left out; the innermost one's place, 0 if there is none. */
  readonly pin: () => number;
}

export function createCollector(
  now: () => number,
  collecting: Collecting,
  parent: () => SpanContext | undefined,
): Collector {
  const { minDurationMs, counters, limits, dropped } = collecting;
  const main = createFiber(parent, limits);
  let fiber = main;
  const current = () => fiber;
  let isWatching = false;
  let holders = 0;

  // The two functions that everything else here is for. A call that is left out costs two readings of the clock and a few loads
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
    if (frames[top + column.func] !== func || frames[top + column.special] !== 0 || !(duration < minDurationMs)) {
      exitSlowly(func, end);
      return;
    }
    if (counters !== undefined) counters.exit(func, duration, duration - (frames[top + column.leftTime] as number));
    const below = top - stride;
    frames[below + column.leftCalls] =
      (frames[below + column.leftCalls] as number) + (frames[top + column.leftCalls] as number) + 1;
    frames[below + column.leftTime] = (frames[below + column.leftTime] as number) + duration;
    frames[top + column.leftCalls] = 0;
    frames[top + column.leftTime] = 0;
    fiber.top = below;
  };
  const enterSlowly = (func: number): void => {
    if (openFrame(fiber, collecting, func, now(), 0)) counters?.enter(func);
  };
  const exitSlowly = (func: number, end: number): void => {
    if (!leaveTooDeep(fiber, collecting)) closeFunction(fiber, collecting, func, end);
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
      endLeftovers();
    });
  };
  const endLeftovers = (ending?: Ending): void => {
    if (main.scopes === 0 && holders === 0) closeAbove(main, collecting, 0, now(), ending);
  };

  return {
    ...createAnnotations(now, collecting, current),
    enter,
    exit,
    begin(called) {
      const { top, tooDeep, tooDeepOutside, memory } = fiber;
      // A boundary for which there is no room is counted with what is too deep, but is no call that was dropped.
      if (top > 0 && tooDeep === 0 && !openFrame(fiber, collecting, Number.NaN, 0, special.boundary)) dropped.depth--;
      fiber.tooDeepOutside = fiber.tooDeep;
      fiber.scopes++;
      if (called !== undefined) fiber.memory = called;
      return { fiber, top, tooDeep, tooDeepOutside, memory };
    },
    end(mark, ending) {
      mark.fiber.scopes--;
      mark.fiber.memory = mark.memory;
      closeAbove(mark.fiber, collecting, mark.top, now(), ending);
      mark.fiber.tooDeep = mark.tooDeep;
      mark.fiber.tooDeepOutside = mark.tooDeepOutside;
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
    finish(finished, ending) {
      closeAbove(finished, collecting, 0, now(), ending);
    },
    endLeftovers: () => endLeftovers(),
    holdLeftovers() {
      holders++;
      return (ending) => {
        holders--;
        endLeftovers(ending);
      };
    },
    pin() {
      for (let at = fiber.top; at > 0; at -= stride) {
        if (!has(fiber, at, special.boundary | special.overflow)) mark(fiber, at, special.pinned);
      }
      return innermostSpan(fiber);
    },
  };
}
