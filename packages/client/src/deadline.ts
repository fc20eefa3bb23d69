import type { Clock } from './clock.ts';
import { aborted, ClientError } from './errors.ts';

export type Deadline = ReturnType<typeof createDeadline>;

/** Aborts a request with its caller, or when one of its phases takes too long. */
export function createDeadline(clock: Clock, totalMs: number, caller: AbortSignal) {
  const controller = new AbortController();
  const { signal } = controller;
  const expire = (phase: string, limitMs: number) => () =>
    controller.abort(new ClientError('timeout', `The server took longer than ${limitMs} ms ${phase}`));
  const onAbort = () => controller.abort(aborted(caller));
  caller.addEventListener('abort', onAbort, { once: true });
  if (caller.aborted) onAbort();
  const cancelTotal = clock.setTimer(expire('in total', totalMs), totalMs);
  let cancelPhase = () => {};

  function pause(): void {
    cancelPhase();
    cancelTotal();
  }

  return {
    /** Its reason is a ClientError. */
    signal: signal as AbortSignal,
    /** Begins a phase, which ends the previous one. */
    begin(phase: string, limitMs: number): void {
      cancelPhase();
      cancelPhase = clock.setTimer(expire(phase, limitMs), limitMs);
    },
    /** Waits. Rejects when the time is over, even if the work ignores the signal. */
    within<T>(work: Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        const onEnd = () => reject(signal.reason);
        if (signal.aborted) onEnd();
        signal.addEventListener('abort', onEnd, { once: true });
        work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onEnd));
      });
    },
    abort: (reason: ClientError): void => controller.abort(reason),
    /** Stops the timers. The caller's signal still aborts. */
    pause: (): void => pause(),
    /** Stops the timers and removes the listener from the caller's signal. */
    end(): void {
      pause();
      caller.removeEventListener('abort', onAbort);
    },
  };
}
