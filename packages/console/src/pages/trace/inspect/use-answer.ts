import { type Inputs, useEffect, useState } from 'preact/hooks';

/** The last answer, which stays until the next. */
export interface Pending<T> {
  readonly value: T | undefined;
  readonly fault: string | undefined;
  readonly isWaiting: boolean;
}

/**
 * Asks again when an input has changed, debounced.

 */
export function useAnswer<T>(ask: () => Promise<T>, inputs: Inputs, delayMs: number): Pending<T> {
  const [pending, setPending] = useState<Pending<T>>({ value: undefined, fault: undefined, isWaiting: true });
  useEffect(() => {
    let isCurrent = true;
    setPending((before) => ({ ...before, isWaiting: true }));
    const timer = setTimeout(() => {
      ask().then(
        (value) => {
          if (isCurrent) setPending({ value, fault: undefined, isWaiting: false });
        },
        (error: Error) => {
          if (isCurrent) setPending({ value: undefined, fault: error.message, isWaiting: false });
        },
      );
    }, delayMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, inputs);
  return pending;
}
