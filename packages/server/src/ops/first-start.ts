import { createSetUpLink, linkUrl } from '../auth/one-time-links.ts';
import { hashSecret } from '../auth/secrets.ts';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/listen-address.ts';
import type { TokenRecord } from '../db/records.ts';
import { type Queries, ReadOnlyError, StorageFullError } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { createDemo, prepareDemo, renewDemoSecrets } from './demo.ts';
import {
  deletePendingSecrets,
  findPendingSecrets,
  readQuickstart,
  writePendingSecrets,
  writeQuickstart,
} from './quickstart-file.ts';

/** The options that decide whether an empty data folder gets the demo. */
interface DemoOptions {
  /** `true` for `--demo`, `false` for `--no-demo`, `undefined` without either. */
  readonly demo: boolean | undefined;
  /** The address that the server listens on. */
  readonly host: string;
  /** Set when the server runs with one area only. */
  readonly only: 'instrument' | undefined;
  /** Set when the server follows another one. */
  readonly isMirror?: boolean;
}

/** Why an empty data folder gets no demo: `--no-demo`, a host that other machines can reach, a server without distribution, or a mirror. */
export type NoDemoReason = 'declined' | 'public_host' | 'instrument_only' | 'mirror';

/** Returns why there is no demo; `undefined` if there is one. */
export function noDemoReason({ demo, host, only, isMirror }: DemoOptions): NoDemoReason | undefined {
  if (only === 'instrument') return 'instrument_only';
  if (isMirror) return 'mirror';
  if (demo !== undefined) return demo ? undefined : 'declined';
  return isLoopback(host) ? undefined : 'public_host';
}

/** Whether a server uses its data folder: for a store, or for the demo's `quickstart.env`. */
export function usesDataFolder(config: Pick<Config, 'databaseUrl' | 's3Bucket'> & DemoOptions): boolean {
  return config.databaseUrl === undefined || config.s3Bucket === undefined || noDemoReason(config) === undefined;
}

export interface FirstStartOptions extends DemoOptions {
  /** The data folder, which holds `quickstart.env`. */
  readonly dataDir: string;
  /** Whether the server uses the data folder. Without it, there is no demo and no `quickstart.env`. Default: `true`. */
  readonly hasDataFolder?: boolean;
  /** `{base_url}`. */
  readonly url: string;
  /** Called when `quickstart.env` can't be updated because the disk is full or read-only. */
  readonly onNotWritten?: (error: unknown) => void;
  /** Whether this server has the lock of the data folder. Without it, the server keeps the URL in `quickstart.env`. Default: `true`. */
  readonly holdsFolderLock?: boolean;
}

interface QuickstartState {
  /** Whether `quickstart.env` holds a valid token. */
  readonly hasSecrets: boolean;
  /** Whether it holds the e-mail address of an existing account, with that account's initial password. */
  readonly hasSignIn: boolean;
}

const noQuickstart: QuickstartState = { hasSecrets: false, hasSignIn: false };

/** The result of a start: it created the demo, found data, or left the folder empty. */
export type FirstStart = QuickstartState &
  (
    | { readonly state: 'demo_made' }
    | { readonly state: 'in_use' }
    | {
        readonly state: 'empty';
        readonly reason: NoDemoReason;
        /** The link that creates the first account; absent on a server without accounts. */
        readonly setUpLink?: string;
      }
  );

/**
 * Runs at every start, once the server listens. In a data folder without users it creates the demo, or, without a demo, a link for the
 * first account. It then updates `quickstart.env`.
 *
 * The demo is created in one transaction, and its secrets are written to a separate file before the commit. If the process is killed at any
 * point, the next start completes the demo or creates it again. The store's write lock serialises processes that start at the same time:
 * one of them creates the demo, and all of them see complete files.
 *
 * @throws store errors, and file system errors
 */
export async function firstStart(deps: Deps, options: FirstStartOptions): Promise<FirstStart> {
  const reason = noDemoReason(options);
  const isCreated = reason === undefined && (await createDemoOnce(deps, options.dataDir));
  if (reason === undefined && !isCreated) await renewExpiredSecrets(deps, options);
  const quickstart = options.hasDataFolder === false ? noQuickstart : await updateQuickstart(deps, options);
  if (isCreated) return { state: 'demo_made', ...quickstart };
  const isInUse = await deps.store.read.anyUser();
  if (isInUse || reason === undefined) return { state: 'in_use', ...quickstart };
  if (reason === 'instrument_only' || reason === 'mirror') return { state: 'empty', reason, ...quickstart };
  const setUpLink = linkUrl(options.url, await createSetUpLink(deps, true));
  return { state: 'empty', reason, setUpLink, ...quickstart };
}

async function createDemoOnce(deps: Deps, dataDir: string): Promise<boolean> {
  if (await deps.store.read.anyUser()) return false;
  const preparation = await prepareDemo(deps);
  return deps.store.write(async (tx) => {
    if (await tx.anyUser()) return false;
    // Inside the transaction: a process with the write lock then finds only files of transactions that have ended.
    writePendingSecrets(dataDir, await createDemo(deps, tx, preparation));
    return true;
  });
}

/** Replaces expired secrets. Like a new demo's, they are written to a separate file before the commit. */
async function renewExpiredSecrets(deps: Deps, { dataDir, onNotWritten }: FirstStartOptions): Promise<void> {
  const secrets = readQuickstart(dataDir);
  if (!secrets.has('TENON_TOKEN')) return;
  const renew = () =>
    deps.store.write(async (tx) => {
      const renewed = await renewDemoSecrets(deps, tx, secrets);
      if (renewed !== undefined) writePendingSecrets(dataDir, renewed);
    });
  await renew().catch(ignoreUnwritable(onNotWritten));
}

async function updateQuickstart(deps: Deps, options: FirstStartOptions): Promise<QuickstartState> {
  const { dataDir, url, holdsFolderLock: isHolder = true, onNotWritten } = options;
  const update = () =>
    deps.store.write(async (tx) => {
      const pending = findPendingSecrets(dataDir);
      for (const { values } of pending) {
        if (await findToken(tx, values)) writeQuickstart(dataDir, url, values);
      }
      if (isHolder || !readQuickstart(dataDir).has('TENON_URL')) writeQuickstart(dataDir, url);
      for (const { path } of pending) deletePendingSecrets(path);
    });
  await update().catch(ignoreUnwritable(onNotWritten));
  const { read } = deps.store;
  const values = readQuickstart(dataDir);
  const token = await findToken(read, values);
  const email = values.has('TENON_PASSWORD') ? values.get('TENON_EMAIL') : undefined;
  const password = email === undefined ? undefined : await read.passwordByEmail(email);
  return {
    hasSecrets: token !== undefined && token.expiresAtMs > deps.clock(),
    hasSignIn: password !== undefined,
  };
}

/** Returns an error handler that ignores a full or read-only disk: the server then starts with the file unchanged. */
function ignoreUnwritable(onNotWritten: (error: unknown) => void = () => {}): (error: unknown) => void {
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
