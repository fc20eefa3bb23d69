import type { Clock } from './clock.ts';
import { aborted, ClientError } from './errors.ts';

/** Ends a request when its caller does, or when a phase of it takes too long. */
export interface Deadline {
  /** Aborted with a ClientError. */
  readonly signal: AbortSignal;
  /** Begins a phase, which ends the one before. */
  begin(phase: string, limitMs: number): void;
  /** Waits for something; rejects as soon as the time is over, even if what is waited for doesn't heed the signal. */
  within<T>(work: Promise<T>): Promise<T>;
  /** Aborts, whatever time is left. */
  abort(reason: ClientError): void;
  /** Lets the time run out unnoticed; the caller still ends what goes on. */
  rest(): void;
  /** Lets go of all timers and of the caller's signal. */
  end(): void;
}

export function createDeadline(clock: Clock, totalMs: number, caller: AbortSignal): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const giveUp = (phase: string, limitMs: number) => () =>
    controller.abort(new ClientError('timeout', `The server took longer than ${limitMs} ms ${phase}`));
  const onAbort = () => controller.abort(aborted(caller));
  caller.addEventListener('abort', onAbort, { once: true });
  if (caller.aborted) onAbort();
  const cancelTotal = clock.setTimer(giveUp('in all', totalMs), totalMs);
  let cancelPhase = () => {};

  const rest = () => {
    cancelPhase();
    cancelTotal();
  };

  return {
    signal,
    begin(phase, limitMs) {
      cancelPhase();
      cancelPhase = clock.setTimer(giveUp(phase, limitMs), limitMs);
    },
    within(work) {
      return new Promise((resolve, reject) => {
        const onEnd = () => reject(signal.reason);
        if (signal.aborted) onEnd();
        signal.addEventListener('abort', onEnd, { once: true });
        work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onEnd));
      });
    },
    abort: (reason) => controller.abort(reason),
    rest,
    end() {
      rest();
      caller.removeEventListener('abort', onAbort);
    },
  };
}
