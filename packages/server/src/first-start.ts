import { makeDemo, prepareDemo, renewDemo } from './demo.ts';
import type { Context } from './domain/context.ts';
import { createSetUpLink, linkUrl } from './domain/one-time-links.ts';
import { type Queries, ReadOnlyError, StorageFullError } from './domain/ports.ts';
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
  /** Called when the disk has no room for what has changed in `quickstart.env`, or is read-only. */
  readonly onNotWritten?: (error: unknown) => void;
  /** Whether this server holds the data folder; another one leaves the URL in `quickstart.env` alone. True by default. */
  readonly isHolder?: boolean;
}

/** What of `quickstart.env` is of use. */
interface QuickstartUse {
  /** Whether it holds a token that still works. */
  readonly hasSecrets: boolean;
  /** Whether it holds an e-mail address that has an account, and the password that the account had at first. */
  readonly hasSignIn: boolean;
}

/** What a start found, or made. */
export type FirstStart = QuickstartUse &
  (
    | { readonly state: 'demo_made' }
    | { readonly state: 'in_use' }
    | {
        readonly state: 'empty';
        readonly reason: NoDemoReason;
        /** By which the first account is made; none where there are no accounts. */
        readonly setUpLink?: string;
      }
  );

/**
 * What every start does once the server listens: makes the demo when the data folder holds no user and nothing speaks
 * against it, or else a link for the first account, and writes `quickstart.env`.
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
  if (reason === undefined && !isMade) await renewDemoSecrets(context, options);
  const use = await settleQuickstart(context, options);
  if (isMade) return { state: 'demo_made', ...use };
  const isInUse = await context.store.read.anyUser();
  if (isInUse || reason === undefined) return { state: 'in_use', ...use };
  if (reason === 'instrument_only') return { state: 'empty', reason, ...use };
  return { state: 'empty', reason, setUpLink: linkUrl(options.url, await createSetUpLink(context, true)), ...use };
}

async function makeDemoOnce(context: Context, dataDir: string): Promise<boolean> {
  if (await context.store.read.anyUser()) return false;
  const preparation = await prepareDemo(context);
  return context.store.write(async (tx) => {
    if (await tx.anyUser()) return false;
    // Within the transaction: a file that is found under the write lock then belongs to a demo that was made, or to none.
    writePending(dataDir, await makeDemo(context, tx, preparation));
    return true;
  });
}

/** Renews what has expired, as the demo is made: the secrets lie in a file of their own before they are committed. */
async function renewDemoSecrets(context: Context, { dataDir, onNotWritten }: FirstStartOptions): Promise<void> {
  const secrets = readQuickstart(dataDir);
  if (!secrets.has('TENON_TOKEN')) return;
  const renew = () =>
    context.store.write(async (tx) => {
      const renewed = await renewDemo(context, tx, secrets);
      if (renewed !== undefined) writePending(dataDir, renewed);
    });
  await renew().catch(unlessWritable(onNotWritten));
}

async function settleQuickstart(context: Context, options: FirstStartOptions): Promise<QuickstartUse> {
  const { dataDir, url, isHolder = true, onNotWritten } = options;
  const settle = () =>
    context.store.write(async (tx) => {
      const pending = findPending(dataDir);
      for (const { values } of pending) {
        if (await findToken(tx, values)) writeQuickstart(dataDir, url, values);
      }
      if (isHolder || !readQuickstart(dataDir).has('TENON_URL')) writeQuickstart(dataDir, url);
      for (const { path } of pending) removePending(path);
    });
  await settle().catch(unlessWritable(onNotWritten));
  const { read } = context.store;
  const values = readQuickstart(dataDir);
  const token = await findToken(read, values);
  const email = values.has('TENON_PASSWORD') ? values.get('TENON_EMAIL') : undefined;
  const identity = email === undefined ? undefined : await read.identity('password', email);
  return {
    hasSecrets: token !== undefined && token.expiresAtMs > context.clock(),
    hasSignIn: identity !== undefined,
  };
}

/** Passes over what a disk that is full or read-only refuses: a server starts there with the file as it is. */
function unlessWritable(onNotWritten: (error: unknown) => void = () => {}): (error: unknown) => void {
  return (error) => {
    const { code = '' } = error as NodeJS.ErrnoException;
    const isRefused = error instanceof ReadOnlyError || error instanceof StorageFullError;
    if (!isRefused && !['EDQUOT', 'ENOSPC', 'EROFS'].includes(code)) throw error;
    onNotWritten(error);
  };
}

async function findToken(tx: Queries, values: ReadonlyMap<string, string>): Promise<TokenRecord | undefined> {
  const secret = values.get('TENON_TOKEN');
  return secret === undefined ? undefined : tx.tokenByHash(hashSecret(secret));
}
