/** The client's source of time. Tests replace it. */
export interface Clock {
  /** Milliseconds since an arbitrary moment. Never goes back. Ages are measured with it. */
  monotonicMs(): number;
  /** Milliseconds since 1970, in UTC. For stored times and for dates from the server. */
  wallMs(): number;
  /** Calls back once after a delay. Returns a function that cancels it. */
  setTimer(callback: () => void, delayMs: number): () => void;
}

/** The longest delay of the platform's timers. A longer one would elapse at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  setTimer(callback, delayMs) {
    if (delayMs > longestTimerMs) return () => {};
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** A timer as a promise. */
export interface Timer {
  readonly elapsed: Promise<undefined>;
  cancel(): void;
}

export function startTimer(clock: Clock, delayMs: number): Timer {
  let cancel = () => {};
  const elapsed = new Promise<undefined>((resolve) => {
    cancel = clock.setTimer(() => resolve(undefined), delayMs);
  });
  return { elapsed, cancel: () => cancel() };
}

/** Waits. @throws the signal's reason */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.setTimer(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, delayMs);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
