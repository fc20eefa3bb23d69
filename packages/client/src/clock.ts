/** Where the client gets its time from. Handed in by tests; the platform's by default. */
export interface Clock {
  /** Milliseconds since any moment. Never goes back, whatever is done to the machine's clock: ages are measured with it. */
  monotonicMs(): number;
  /** Milliseconds since 1970, in UTC. For what outlives the process, and for dates that the server sends. */
  wallMs(): number;
  /** Calls back once, after so many milliseconds. The answer takes it back. */
  setTimer(callback: () => void, delayMs: number): () => void;
}

/** What the platform's timers take at most; a longer wait would be over at once. */
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

/** Waits. @throws what the signal is aborted with */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const end = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.setTimer(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, delayMs);
    signal.addEventListener('abort', end, { once: true });
  });
}
