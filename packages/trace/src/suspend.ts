import { type Binding, type ExportedFunction, notAnExport } from './bind.ts';
import { TraceError } from './errors.ts';
import type { Fiber } from './fiber.ts';
import type { Recorder } from './recorder.ts';
import type { SpanContext } from './trace-parent.ts';

/** JavaScript Promise Integration, where the engine has it: https://github.com/WebAssembly/js-promise-integration */
interface PromiseIntegration {
  readonly promising: (original: ExportedFunction) => (...args: readonly unknown[]) => Promise<unknown>;
  readonly Suspending: new (imported: (...args: never[]) => unknown) => object;
}

export type Promising = <Args extends readonly unknown[]>(
  exported: (...args: Args) => unknown,
) => (...args: Args) => Promise<unknown>;

/** Calls that wait for promises, each of which has a stack of its own. */
export interface Suspension {
  /** As `WebAssembly.promising`, of a function that a bound instance exports. */
  readonly promising: Promising;
  /** As `new WebAssembly.Suspending`, of a function to import. */
  readonly suspending: (imported: (...args: never[]) => unknown) => object;
  /** Whether a value to import was made by `WebAssembly.Suspending`, and not by {@link suspending}. */
  readonly isForeign: (value: unknown) => boolean;
}

export function createSuspension(
  recorder: Recorder,
  binding: Binding,
  parentOfCall: () => SpanContext | undefined,
): Suspension {
  const own = new WeakSet<object>();
  /** To which stack events go when a waiting call's stretch is over. */
  const displaced = new Map<Fiber, Fiber>();
  const leave = (fiber: Fiber): void => {
    const previous = displaced.get(fiber);
    if (previous === undefined) return;
    displaced.delete(fiber);
    recorder.switchTo(previous);
  };
  const resume = (fiber: Fiber): void => {
    displaced.set(fiber, recorder.switchTo(fiber));
  };
  return {
    promising<Args extends readonly unknown[]>(exported: (...args: Args) => unknown) {
      const original = binding.unwrap(exported as ExportedFunction);
      if (original === exported) throw notAnExport();
      const call = promiseIntegration().promising(original);
      return (...args) => {
        const fiber = recorder.newFiber(parentOfCall());
        fiber.memory = binding.memoryOf(original) ?? fiber.memory;
        resume(fiber);
        let promise: Promise<unknown>;
        try {
          promise = call(...args);
        } finally {
          leave(fiber);
        }
        return promise.then(
          (result) => {
            leave(fiber);
            recorder.finish(fiber);
            return result;
          },
          (thrown) => {
            leave(fiber);
            recorder.finish(fiber, binding.closeReasonOf(thrown));
            throw thrown;
          },
        );
      };
    },
    suspending(imported) {
      const { Suspending } = promiseIntegration();
      const wrapper = (...args: never[]) => {
        const result = imported(...args);
        const fiber = recorder.current();
        // The engine refuses to suspend what wasn't called as promising, and what has the host's own calls in between.
        if (fiber.scopes > 0 || !displaced.has(fiber)) return result;
        leave(fiber);
        return gate(
          result,
          () => resume(fiber),
          () => leave(fiber),
        );
      };
      const made = new Suspending(wrapper);
      own.add(made);
      return made;
    },
    isForeign(value) {
      const { Suspending } = WebAssembly as unknown as Partial<PromiseIntegration>;
      return Suspending !== undefined && value instanceof Suspending && !own.has(value);
    },
  };
}

/**
 * A promise of the same outcome, whose three reactions run one right after the other, so that nothing else can run between:
 * `before`, then the engine's, which goes on with the call until it waits again or ends, then `after`. The engine adds its own when
 * it gets the promise, that is before the next microtask.
 */
function gate(result: unknown, before: () => void, after: () => void): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  promise.then(before, before);
  queueMicrotask(() => {
    promise.then(after, after);
    Promise.resolve(result).then(resolve, reject);
  });
  return promise;
}

function promiseIntegration(): PromiseIntegration {
  const found = WebAssembly as unknown as Partial<PromiseIntegration>;
  if (found.promising === undefined || found.Suspending === undefined) {
    throw new TraceError(
      'no_promise_integration',
      'Cannot have calls wait for promises: this engine has no JavaScript Promise Integration',
    );
  }
  return found as PromiseIntegration;
}
