import { Stopped } from './ending.ts';

/** Throws {@link Stopped} once the host has asked the program to stop. */
export type Stopper = () => void;

/**
 * Creates a stopper that host functions call.
 *
 * @param flags shared memory whose first element is not 0 once the program should stop
 * @param onThrow called before each throw with the number of throws: a module can catch them and continue
 */
export function createStopper(flags: Int32Array, onThrow: (throws: number) => void): Stopper {
  let throws = 0;
  return () => {
    // Not an atomic read: it may see the stop a little late, and costs almost nothing in every traced call.
    if (flags[0] === 0) return;
    throws += 1;
    onThrow(throws);
    throw new Stopped('stopped');
  };
}

/** Waits, or until the program should stop. Without shared memory, the thread has to be kept busy. */
export function sleep(ms: number, flags: Int32Array | undefined): void {
  if (flags !== undefined) Atomics.wait(flags, 0, 0, ms);
  else for (const endMs = performance.now() + ms; performance.now() < endMs; );
}
