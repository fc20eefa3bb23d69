import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Stopper } from '@tenon/run-kit';
import { signals } from './messages.ts';

/** Stdin for a thread that runs a synchronous program. */
export interface StandardInput {
  /** Waits for input and copies it. @returns the number of bytes, 0 at the end */
  readonly read: (into: Uint8Array) => number;
  /** Starts again at the first byte, for another run. */
  readonly rewind: () => void;
}

/** The thread that reads stdin. */
export interface StandardInputSource {
  /** Brings the pieces. An empty one is the end. */
  readonly port: MessagePort;
  readonly flags: Int32Array;
  readonly stopper: Stopper;
  readonly askForMore: () => void;
}

/**
 * Reads stdin through another thread, on request. The system's own read can't be interrupted, so a program that waits for
 * input couldn't be stopped.
 */
export function createStandardInput({ port, flags, stopper, askForMore }: StandardInputSource): StandardInput {
  const pieces: Uint8Array[] = [];
  let piece = 0;
  let offset = 0;
  const receive = (): Uint8Array => {
    askForMore();
    for (;;) {
      stopper();
      const seen = Atomics.load(flags, signals.stdin);
      const received = receiveMessageOnPort(port) as { readonly message: Uint8Array } | undefined;
      if (received !== undefined) return received.message;
      Atomics.wait(flags, signals.stdin, seen);
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
