import { AsyncLocalStorage } from 'node:async_hooks';

const fairnessKeys = new AsyncLocalStorage<string>();

/**
 * Runs work on behalf of a caller: an account, or the network of a client that has no account. Everything that the work waits for
 * in a fair queue (a turn to write, a thread for a password) is shared by this key, so that no caller waits for all that another
 * one sends.
 */
export function runWithFairnessKey<T>(caller: string, work: () => T): T {
  return fairnessKeys.run(caller, work);
}

/** The caller on whose behalf this runs; the server itself, outside of requests, is one caller: `''`. */
export function currentFairnessKey(): string {
  return fairnessKeys.getStore() ?? '';
}
