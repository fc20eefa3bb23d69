import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

const run = promisify(execFile);

const isInstalled = ['skopeo', 'docker-registry'].every(
  (program) => spawnSync(program, ['--version']).error === undefined,
);

/** Why tests with OCI clients are skipped; `false` if they are not. */
export const noOciClients =
  !isInstalled && process.env.COMPILERS_REQUIRED === undefined && 'needs skopeo and docker-registry';

/** Runs skopeo. @param home where it keeps its files @returns its output */
export async function skopeo(home: string, ...options: readonly string[]): Promise<string> {
  const { stdout } = await run('skopeo', ['--insecure-policy', ...options], { env: { ...process.env, HOME: home } });
  return stdout;
}

/** Starts docker-registry with an empty storage below a folder. @param use gets the registry's host */
export async function withRegistry(folder: string, use: (host: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(folder, 'registry-'));
  const config = join(root, 'config.yml');
  const storage = `storage:\n  filesystem:\n    rootdirectory: ${root}/data\n`;
  await writeFile(config, `version: 0.1\n${storage}http:\n  addr: 127.0.0.1:0\n`);
  const registry = spawn('docker-registry', ['serve', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    const host = await new Promise<string>((resolve, reject) => {
      let log = '';
      const read = (text: string): void => {
        log += text;
        const [, found] = /listening on (127\.0\.0\.1:\d+)/.exec(log) ?? [];
        if (found !== undefined) resolve(found);
      };
      registry.stdout.setEncoding('utf8').on('data', read);
      registry.stderr.setEncoding('utf8').on('data', read);
      registry.once('exit', () => reject(new Error(`The registry ended: ${log}`)));
    });
    await use(host);
  } finally {
    registry.kill();
    if (registry.exitCode === null && registry.signalCode === null) await once(registry, 'exit');
  }
}
