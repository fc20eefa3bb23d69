import type { Io } from './io.ts';
import { formatSize } from './text.ts';

/** Shows how far a transfer is. */
export interface Progress {
  readonly advance: (bytes: number) => void;
  /** Takes the bar away. */
  readonly end: () => void;
}

/** Shorter work shows no bar. */
const delayMs = 300;
const intervalMs = 100;
const barColumns = 24;

/**
 * A bar on stderr, where that is a terminal and people read along; nothing anywhere else.
 *
 * @param totalBytes how much there is to transfer; `undefined` when that isn't known, and then only what was counts
 */
export function createProgress(
  io: Pick<Io, 'stderr' | 'nowMs'>,
  isShown: boolean,
  label: string,
  totalBytes: number | undefined,
): Progress {
  const { stderr } = io;
  if (!isShown || !stderr.isTTY) return { advance() {}, end() {} };
  const startedMs = io.nowMs();
  let drawnMs = startedMs + delayMs - intervalMs;
  let doneBytes = 0;
  let isDrawn = false;
  return {
    advance(bytes) {
      doneBytes += bytes;
      const nowMs = io.nowMs();
      if (nowMs - drawnMs < intervalMs) return;
      drawnMs = nowMs;
      isDrawn = true;
      const bytesPerSecond = (doneBytes / Math.max(nowMs - startedMs, 1)) * 1000;
      const line = `${label} ${bar(doneBytes, totalBytes)}  ${formatSize(bytesPerSecond)}/s`;
      stderr.write(`\r\u001b[K${line.slice(0, (stderr.columns ?? 80) - 1)}`);
    },
    end() {
      if (isDrawn) stderr.write('\r\u001b[K');
      isDrawn = false;
    },
  };
}

function bar(doneBytes: number, totalBytes: number | undefined): string {
  if (totalBytes === undefined) return formatSize(doneBytes);
  const share = totalBytes === 0 ? 1 : Math.min(doneBytes / totalBytes, 1);
  const filled = Math.round(share * barColumns);
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  return `${'━'.repeat(filled)}${'─'.repeat(barColumns - filled)} ${percent} %  ${formatSize(doneBytes)} of ${formatSize(totalBytes)}`;
}

/**
 * Says on stderr, where that is a terminal, what is being done.
 *
 * @returns takes the line away
 */
export function showStep(io: Pick<Io, 'stderr'>, isShown: boolean, text: string): () => void {
  const { stderr } = io;
  if (!isShown || !stderr.isTTY) return () => {};
  stderr.write(`\r\u001b[K${text}`);
  return () => stderr.write('\r\u001b[K');
}
