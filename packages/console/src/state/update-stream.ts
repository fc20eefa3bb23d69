import { hasCode, isAbort } from '../api/api-error.ts';

/** The dependencies of {@link followUpdates}. */
export interface UpdateStreamOptions {
  /** Opens the stream. It starts with an event if something has changed within this many seconds. */
  readonly connect: (within: number, signal: AbortSignal) => Promise<Response>;
  readonly onUpdate: () => void;
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** Milliseconds since any time. */
  readonly nowMs: () => number;
  /** The time until which all changes are known. */
  readonly knownUntilMs: number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/** The server reports earlier changes for an hour. */
const maxWithinSeconds = 3_600;

/**
 * Follows an application's updates, and reconnects with exponential backoff. Reports a change after a gap that is longer than the
 * server looks back.
 *
 * @returns when the signal aborts, or the user has no access
 */
export async function followUpdates(options: UpdateStreamOptions): Promise<void> {
  const { connect, onUpdate, signal, nowMs, wait, random } = options;
  let knownUntilMs = options.knownUntilMs;
  let failures = 0;
  while (!signal.aborted) {
    const seconds = Math.ceil((nowMs() - knownUntilMs) / 1000) + 1;
    if (seconds > maxWithinSeconds) onUpdate();
    try {
      const response = await connect(Math.min(seconds, maxWithinSeconds), signal);
      await readEvents(response, (event) => {
        knownUntilMs = nowMs();
        if (event === 'ready') failures = 0;
        if (event === 'update') onUpdate();
      });
    } catch (error) {
      if (signal.aborted || isAbort(error) || hasCode(error, 'not_found', 'forbidden')) return;
    }
    failures += 1;
    const retryMs = Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs);
    await wait(retryMs * (0.5 + random() / 2), signal);
  }
}

/** Calls `onEvent` with the name of each event, and with an empty name for each heartbeat. */
async function readEvents({ body }: Response, onEvent: (name: string) => void): Promise<void> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) onEvent(/^event: (.*)$/m.exec(part)?.[1] ?? '');
  }
}
