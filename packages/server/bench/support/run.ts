import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/** What is to be done when all is over, the last first, whatever became of the rest. */
export type Defer = (undo: () => unknown) => void;

/** Runs with a folder that is removed afterwards, and has everything undone that was deferred. */
export async function withFolder<T>(work: (folder: string, defer: Defer) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-bench-'));
  const undoing: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 10 })];
  try {
    return await work(folder, (undo) => undoing.push(undo));
  } finally {
    for (const undo of undoing.reverse()) {
      await Promise.try(undo).catch((error: unknown) => {
        process.exitCode = 1;
        console.error(error);
      });
    }
  }
}

/** Tells on standard error what is being done. */
export interface Progress {
  tell(text: string): void;
  clear(): void;
}

/** On one line of a terminal; elsewhere a line each time that what stands before the colon changes. */
export function createProgress(): Progress {
  const { stderr } = process;
  let last = '';
  return {
    tell(text) {
      if (stderr.isTTY) {
        stderr.write(`\r\x1b[K${text}`);
        return;
      }
      const heading = text.split(':', 1)[0] ?? '';
      if (heading !== last) stderr.write(`${heading}\n`);
      last = heading;
    },
    clear() {
      if (stderr.isTTY) stderr.write('\r\x1b[K');
    },
  };
}
