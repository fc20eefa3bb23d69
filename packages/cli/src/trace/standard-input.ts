import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { signals } from './messages.ts';

/** Thrown into a program that is to end. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** Stdin, for a thread that runs a program which knows nothing of waiting. */
export interface StandardInput {
  /** Waits until there is something, and fills a buffer with it. @returns how many bytes; 0 at the end */
  readonly read: (into: Uint8Array) => number;
}

/**
 * Reads what another thread reads of stdin and sends when it is asked. The system's own read can't be interrupted: a program that
 * waits for somebody to type could not be stopped.
 */
export function createStandardInput(port: MessagePort, shared: Int32Array, askForMore: () => void): StandardInput {
  let rest: Uint8Array = new Uint8Array();
  let hasEnded = false;
  const receive = (): Uint8Array => {
    askForMore();
    for (;;) {
      if (Atomics.load(shared, signals.stop) !== 0) throw new Stopped('stopped');
      const seen = Atomics.load(shared, signals.stdin);
      const received = receiveMessageOnPort(port) as { readonly message: Uint8Array } | undefined;
      if (received !== undefined) return received.message;
      Atomics.wait(shared, signals.stdin, seen);
    }
  };
  return {
    read(into) {
      if (rest.length === 0 && !hasEnded) {
        rest = receive();
        hasEnded = rest.length === 0;
      }
      const taken = rest.subarray(0, into.length);
      into.set(taken);
      rest = rest.subarray(taken.length);
      return taken.length;
    },
  };
}
