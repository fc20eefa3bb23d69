import type { StreamName } from '@tenon/run-kit';
import type { RunMessage } from './messages.ts';

/** Of each stream. The rest is dropped. */
const maxBytes = 256 * 1024;

/** Output is sent once this much has come, or this time has passed: a message per byte would overwhelm the page. */
const maxWaitingBytes = 16 * 1024;
const maxWaitingMs = 60;

/** Collects a program's output and sends it in pieces, up to a limit. */
export interface OutputBuffer {
  write(stream: StreamName, bytes: Uint8Array): void;
  /** Sends what was collected. */
  flush(): void;
}

export function createOutputBuffer(send: (message: RunMessage) => void, clock: () => number): OutputBuffer {
  const streams = {
    stdout: { left: maxBytes, waiting: [] as Uint8Array[], isCut: false },
    stderr: { left: maxBytes, waiting: [] as Uint8Array[], isCut: false },
  };
  let lastMs = clock();
  const flush = (): void => {
    for (const stream of ['stdout', 'stderr'] as const) {
      const { waiting } = streams[stream];
      if (waiting.length === 0) continue;
      send({ kind: 'output', stream, bytes: joined(waiting) });
      waiting.length = 0;
    }
    lastMs = clock();
  };
  return {
    flush,
    write(stream, bytes) {
      const state = streams[stream];
      const kept = bytes.slice(0, state.left);
      state.left -= kept.length;
      if (kept.length > 0) state.waiting.push(kept);
      if (kept.length < bytes.length && !state.isCut) {
        state.isCut = true;
        flush();
        send({ kind: 'cut', stream });
      }
      const waitingBytes = state.waiting.reduce((sum, { length }) => sum + length, 0);
      if (waitingBytes >= maxWaitingBytes || (waitingBytes > 0 && clock() - lastMs >= maxWaitingMs)) flush();
    },
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
