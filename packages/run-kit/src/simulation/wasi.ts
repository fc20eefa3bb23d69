import { createWasi } from '../wasi.ts';
import type { StreamName, Wasi, WasiModule } from '../wasi-interface.ts';

/** The clock of a new instance: 2026-01-01T00:00:00Z. */
const startMs = 1_767_225_600_000;
/** Each reading of the clock takes this long, so that a program that waits for a time goes on. */
const readingMs = 0.001;
const maxLineBytes = 2_000;

export interface SimulationWasi extends Wasi {
  /** Ends lines that are not complete. */
  readonly flush: () => void;
}

/**
 * Creates WASI without files, arguments, variables and input. The same calls return the same values: the clock starts at a
 * fixed time and only advances when it is read or a program waits, and random numbers are a fixed sequence.
 */
export function createSimulationWasi(
  module: WasiModule,
  onLine: (stream: StreamName, text: string) => void,
): SimulationWasi {
  let elapsedMs = 0;
  const read = () => {
    elapsedMs += readingMs;
    return elapsedMs;
  };
  const lines = { stdout: createLines(onLine, 'stdout'), stderr: createLines(onLine, 'stderr') };
  const wasi = createWasi(module, {
    args: ['plugin.wasm'],
    environment: {},
    read: () => 0,
    write(stream, bytes) {
      lines[stream].write(bytes);
      return 0;
    },
    isTerminal: () => false,
    sleep(ms) {
      elapsedMs += ms;
    },
    now: read,
    wallClock: () => startMs + read(),
    random: createRandom(),
  });
  const flush = () => {
    lines.stdout.end();
    lines.stderr.end();
  };
  return { ...wasi, flush };
}

/** Splits a stream into lines. Longer ones are shortened. */
function createLines(onLine: (stream: StreamName, text: string) => void, stream: StreamName) {
  const line = new Uint8Array(maxLineBytes);
  let length = 0;
  const end = () => {
    if (length === 0) return;
    onLine(stream, new TextDecoder().decode(line.subarray(0, Math.min(length, maxLineBytes))));
    length = 0;
  };
  const add = (bytes: Uint8Array) => {
    if (length < maxLineBytes) line.set(bytes.subarray(0, maxLineBytes - length), length);
    length += bytes.length;
  };
  return {
    end,
    write(bytes: Uint8Array) {
      let from = 0;
      for (let to = bytes.indexOf(10); to !== -1; to = bytes.indexOf(10, from)) {
        add(bytes.subarray(from, to));
        end();
        from = to + 1;
      }
      add(bytes.subarray(from));
    },
  };
}

/** A generator of numbers with a fixed start (mulberry32). */
function createRandom(): (bytes: Uint8Array) => void {
  let state = 0x7e4a_11ed;
  return (bytes) => {
    for (let at = 0; at < bytes.length; at++) {
      state = (state + 0x6d2b_79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      bytes[at] = (mixed ^ (mixed >>> 14)) & 0xff;
    }
  };
}
