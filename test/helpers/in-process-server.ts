import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { loadConfig, type RunningServer, serve } from '@tenon/server';
import { placeMigratedDatabase } from '../../packages/server/test/helpers/migrated-database.ts';
import { raisedQuotas } from './raised-quotas.ts';

/** A server with the demo data in the test's own process. */
export interface InProcessServer {
  readonly url: string;
  /** A new folder. The server's data is in `tenon-data` below it; the rest is the test's. */
  readonly folder: string;
  readonly dataDir: string;
  /** The variables in `quickstart.env`. */
  readonly quickstart: Readonly<Record<string, string>>;
  readonly running: RunningServer;
  stop(): Promise<void>;
}

/**
 * Starts a server on a free port. It takes an eighth of the CPU time of `startServer()`, which starts a process.
 *
 * @param options `settings`: environment variables of the server
 */
export async function startInProcessServer({
  settings = {},
}: {
  readonly settings?: Readonly<Record<string, string>>;
} = {}): Promise<InProcessServer> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-test-'));
  const dataDir = join(folder, 'tenon-data');
  await mkdir(dataDir, { mode: 0o700 });
  await placeMigratedDatabase(dataDir);
  const port = settings.TENON_PORT ?? '0';
  const environment = { TENON_CREATE_APPS: 'all', TENON_QUOTAS: raisedQuotas, ...settings };
  const running = await serve(loadConfig({ dataDir, port, host: '127.0.0.1', logLevel: 'silent' }, environment));
  const quickstart = parseEnv(await readFile(join(dataDir, 'quickstart.env'), 'utf8')) as Record<string, string>;
  return {
    url: running.url,
    folder,
    dataDir,
    quickstart,
    running,
    async stop() {
      await running.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
