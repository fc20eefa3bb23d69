import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { loadConfig, type RunningServer, serve } from '@tenon/server';
import { raisedQuotas } from '../../../../test/helpers/raised-quotas.ts';

/** A folder of a test's own. */
export async function makeFolder(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'tenon-cli-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** A real server with the demo on a free port. */
export interface TestServer {
  readonly url: string;
  readonly dataDir: string;
  /** What is in its `quickstart.env`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly running: RunningServer;
  readonly stop: () => Promise<void>;
}

/** @param settings as the server's environment variables have them */
export async function startServer(settings: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const { path: dataDir, remove } = await makeFolder();
  const running = await serve(
    loadConfig(
      { dataDir, port: '0', host: '127.0.0.1', logLevel: 'silent' },
      { TENON_CREATE_APPS: 'all', TENON_QUOTAS: raisedQuotas, ...settings },
    ),
  );
  const environment = parseEnv(await readFile(join(dataDir, 'quickstart.env'), 'utf8')) as Record<string, string>;
  return {
    url: running.url,
    dataDir,
    environment,
    running,
    async stop() {
      await running.close();
      await remove();
    },
  };
}
