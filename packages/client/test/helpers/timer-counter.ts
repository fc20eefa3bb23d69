import type { Client, ClientOptions } from '@tenon/client';
import { createClientOn } from '../../src/client.ts';

/** Creates clients on the platform's clock, and counts their running timers. */
export function createTimerCounter() {
  const running = new Set<object>();
  const clock = {
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
    setTimer(callback: () => void, delayMs: number): () => void {
      const timer = setTimeout(() => {
        running.delete(timer);
        callback();
      }, delayMs);
      running.add(timer);
      return () => {
        running.delete(timer);
        clearTimeout(timer);
      };
    },
  };
  return {
    createClient: (options: ClientOptions): Client => createClientOn(options, { clock }),
    running: () => running.size,
  };
}
