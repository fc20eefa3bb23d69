import { signals } from './messages.ts';

/** Thrown into a program that is to end. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** Ends a program from within, where it calls its host. */
export interface Stopper {
  /** Memory with the places of {@link signals}. */
  readonly shared: Int32Array;
  /** Throws {@link Stopped} when the program is to end. */
  readonly check: () => void;
}

/** @param onStop hears once that the program has been reached */
export function createStopper(shared: Int32Array, onStop: () => void): Stopper {
  let isStopping = false;
  const stop = () => {
    if (!isStopping) onStop();
    isStopping = true;
    throw new Stopped('stopped');
  };
  return {
    shared,
    check() {
      // An ordinary read: it may come a little late, and costs next to nothing where every call of a program has one.
      if (shared[signals.stop] !== 0) stop();
    },
  };
}
