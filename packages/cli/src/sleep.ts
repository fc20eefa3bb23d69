import { setTimeout as wait } from 'node:timers/promises';

/** Waits. @throws the signal's reason when that comes first */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch((error) => {
    throw signal.aborted ? signal.reason : error;
  });
}
