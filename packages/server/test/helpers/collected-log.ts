import { type Logger, pino } from 'pino';

export interface CollectedLog {
  readonly log: Logger;
  /** What was logged. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

/** A log that a test reads. */
export function collectLog(level = 'info'): CollectedLog {
  const lines: Record<string, unknown>[] = [];
  return { log: pino({ level, base: {} }, { write: (line: string) => void lines.push(JSON.parse(line)) }), lines };
}
