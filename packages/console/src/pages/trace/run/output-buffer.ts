import type { StreamName } from '@tenon/run-kit';
import type { RunMessage } from './messages.ts';

/** Of each stream. The rest is dropped. */
const maxBytes = 256 * 1024;

/** Output is sent once this much has come, or this time has passed: a message per byte would overwhelm the page. */
const maxWaitingLength = 16 * 1024;
const maxWaitingMs = 60;

/** Collects a program's output as text and sends it in pieces, up to a limit. */
export interface OutputBuffer {
  write(stream: StreamName, bytes: Uint8Array): void;
  /** Sends what was collected. */
  flush(): void;
}

export function createOutputBuffer(send: (message: RunMessage) => void, clock: () => number): OutputBuffer {
  const streams = {
    stdout: { left: maxBytes, text: '', isCut: false, decoder: new TextDecoder() },
    stderr: { left: maxBytes, text: '', isCut: false, decoder: new TextDecoder() },
  };
  let lastMs = clock();
  const flush = (): void => {
    for (const stream of ['stdout', 'stderr'] as const) {
      const { text } = streams[stream];
      if (text !== '') send({ kind: 'output', stream, text });
      streams[stream].text = '';
    }
    lastMs = clock();
  };
  return {
    flush,
    write(stream, bytes) {
      const state = streams[stream];
      const kept = bytes.slice(0, state.left); // a copy, because decoders refuse shared memory
      state.left -= kept.length;
      state.text += state.decoder.decode(kept, { stream: true });
      if (kept.length < bytes.length && !state.isCut) {
        state.isCut = true;
        flush();
        send({ kind: 'cut', stream });
      }
      if (state.text.length >= maxWaitingLength || clock() - lastMs >= maxWaitingMs) flush();
    },
  };
}
