import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { signals } from './messages.ts';
import type { Stopper } from './stopper.ts';

/** Stdin, for a thread that runs a program which knows nothing of waiting. */
export interface StandardInput {
  /** Waits until there is something, and fills a buffer with it. @returns how many bytes; 0 at the end */
  readonly read: (into: Uint8Array) => number;
  /** Begins anew: a program that runs again reads the same. */
  readonly rewind: () => void;
}

/** Has another thread read a piece of stdin. */
export interface StandardInputSource {
  /** Where the pieces come; an empty one is the end. */
  readonly port: MessagePort;
  readonly stopper: Stopper;
  readonly askForMore: () => void;
}

/**
 * Reads what another thread reads of stdin and sends when it is asked. The system's own read can't be interrupted: a program that
 * waits for somebody to type could not be stopped.
 */
export function createStandardInput({ port, stopper, askForMore }: StandardInputSource): StandardInput {
  const pieces: Uint8Array[] = [];
  let piece = 0;
  let offset = 0;
  const receive = (): Uint8Array => {
    askForMore();
    for (;;) {
      stopper.check();
      const seen = Atomics.load(stopper.shared, signals.stdin);
      const received = receiveMessageOnPort(port) as { readonly message: Uint8Array } | undefined;
      if (received !== undefined) return received.message;
      Atomics.wait(stopper.shared, signals.stdin, seen);
    }
  };
  return {
    read(into) {
      if (piece === pieces.length) pieces.push(receive());
      const rest = (pieces[piece] as Uint8Array).subarray(offset);
      const taken = rest.subarray(0, into.length);
      into.set(taken);
      offset += taken.length;
      // The empty piece at the end stays.
      if (taken.length > 0 && offset === pieces[piece]?.length) {
        piece += 1;
        offset = 0;
      }
      return taken.length;
    },
    rewind() {
      piece = 0;
      offset = 0;
    },
  };
}
