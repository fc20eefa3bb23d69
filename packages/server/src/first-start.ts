import { makeDemo, prepareSample } from './demo.ts';
import type { Context } from './domain/context.ts';
import type { Transaction } from './domain/ports.ts';
import type { TokenRecord } from './domain/records.ts';
import { hashSecret } from './domain/secrets.ts';
import { isLoopback } from './listen-address.ts';
import { findPending, readQuickstart, removePending, writePending, writeQuickstart } from './quickstart-file.ts';

/** What decides whether an empty data folder gets the demo. */
export interface DemoWish {
  /** What `--demo` and `--no-demo` say; `undefined` when neither was given. */
  readonly demo: boolean | undefined;
  /** The address that the server listens on. */
  readonly host: string;
  /** Set when the server runs with one area alone. */
  readonly only: 'instrument' | undefined;
}

/** Why an empty data folder stays empty: it was asked for, the host can be reached from elsewhere, or there is no area A. */
export type NoDemoReason = 'declined' | 'public_host' | 'instrument_only';

/** Why there is to be no demo; `undefined` when there is to be one. */
export function noDemoReason({ demo, host, only }: DemoWish): NoDemoReason | undefined {
  if (only === 'instrument') return 'instrument_only';
  if (demo !== undefined) return demo ? undefined : 'declined';
  return isLoopback(host) ? undefined : 'public_host';
}

export interface FirstStartOptions extends DemoWish {
  /** The data folder. `quickstart.env` is written into it. */
  readonly dataDir: string;
  /** What clients reach the server under: `{base_url}`. */
  readonly url: string;
}

/** What a start found, or made. `hasSecrets` tells whether `quickstart.env` holds a token that still works. */
export type FirstStart =
  | { readonly state: 'demo_made'; readonly hasSecrets: boolean }
  | { readonly state: 'in_use'; readonly hasSecrets: boolean }
  | { readonly state: 'empty'; readonly reason: NoDemoReason; readonly hasSecrets: boolean };

/**
 * What every start does once the server listens: makes the demo when the data folder holds no user and nothing speaks
 * against it, and writes `quickstart.env`.
 *
 * The demo is one transaction, and its secrets lie in a file of their own before it commits: a start that is killed at any
 * point is made anew, or finished, by the next. The store's write lock keeps several processes that start at once apart, so
 * that one of them makes the demo, and each of them sees whole files.
 *
 * @throws the store's errors, and the file system's when the folder can't be written to
 */
export async function firstStart(context: Context, options: FirstStartOptions): Promise<FirstStart> {
  const reason = noDemoReason(options);
  const isMade = reason === undefined && (await makeDemoOnce(context, options.dataDir));
  const hasSecrets = await settleQuickstart(context, options);
  if (isMade) return { state: 'demo_made', hasSecrets };
  const isInUse = await context.store.read.anyUser();
  return isInUse || reason === undefined ? { state: 'in_use', hasSecrets } : { state: 'empty', reason, hasSecrets };
}

async function makeDemoOnce(context: Context, dataDir: string): Promise<boolean> {
  if (await context.store.read.anyUser()) return false;
  const sample = await prepareSample(context);
  return context.store.write(async (tx) => {
    if (await tx.anyUser()) return false;
    // Within the transaction: a file that is found under the write lock then belongs to a demo that was made, or to none.
    writePending(dataDir, await makeDemo(context, tx, sample));
    return true;
  });
}

async function settleQuickstart(context: Context, { dataDir, url }: FirstStartOptions): Promise<boolean> {
  return context.store.write(async (tx) => {
    const pending = findPending(dataDir);
    for (const { values } of pending) {
      if (await findToken(tx, values)) writeQuickstart(dataDir, url, values);
    }
    writeQuickstart(dataDir, url);
    for (const { path } of pending) removePending(path);
    const token = await findToken(tx, readQuickstart(dataDir));
    return token !== undefined && token.expiresAtMs > context.clock();
  });
}

async function findToken(tx: Transaction, values: ReadonlyMap<string, string>): Promise<TokenRecord | undefined> {
  const secret = values.get('TENON_TOKEN');
  return secret === undefined ? undefined : tx.tokenByHash(hashSecret(secret));
}
