import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { root, tenon, withoutTenon } from '../helpers/server.ts';

/** What Node.js is started with: nothing for this release, or what makes the next one of it, with a migration more. */
export type Release = readonly string[];

export const thisRelease: Release = [];
export const nextRelease: Release = [
  '--import',
  new URL('../../packages/server/test/helpers/next-release.mjs', import.meta.url).href,
];

export type Quickstart = Readonly<Record<string, string | undefined>>;

export const quickstartOf = (dataDir: string): Quickstart =>
  parseEnv(readFileSync(join(dataDir, 'quickstart.env'), 'utf8'));

/** A release's command line, as the function `tenon` of a shell. */
export function shellFunction(release: Release): string {
  return `tenon() { '${process.execPath}' ${release.join(' ')} '${tenon}' "$@"; }\nexport NO_COLOR=1`;
}

export interface ServingRelease {
  readonly url: string;
  /** Ends it by SIGTERM. @returns its exit code */
  stop(): Promise<number | null>;
}

/**
 * Serves a data folder with a release, and waits until it is ready.
 *
 * @throws Error with what it said when it ends instead
 */
export async function serve(
  release: Release,
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServingRelease> {
  const child = spawn(process.execPath, [...release, tenon, 'serve'], {
    cwd: root,
    env: { ...withoutTenon(process.env), TENON_PORT: '0', TENON_DATA_DIR: dataDir, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  for (const deadline = performance.now() + 120_000; performance.now() < deadline; await sleep(50)) {
    if (child.exitCode !== null) throw new Error(output);
    const { TENON_URL: url = '' } = existsSync(join(dataDir, 'quickstart.env')) ? quickstartOf(dataDir) : {};
    if (!(await fetch(`${url}/readyz`).catch(() => undefined))?.ok) continue;
    return {
      url,
      async stop() {
        child.kill('SIGTERM');
        await ended;
        return child.exitCode;
      },
    };
  }
  child.kill('SIGKILL');
  throw new Error(`It was not ready in two minutes. It said:\n${output}`);
}

/** What a host gets: its list, and the bytes that this names. */
export async function asHost(
  url: string,
  { TENON_TOKEN, TENON_EXTENSION_POINT_ID, TENON_GUEST_KEY = '' }: Quickstart,
): Promise<{ readonly list: object; readonly contents: readonly string[] }> {
  const get = async (path: string): Promise<Buffer> => {
    const answer = await fetch(`${url}/api/v1/${path}`, { headers: { authorization: `Bearer ${TENON_TOKEN}` } });
    const bytes = Buffer.from(await answer.bytes());
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${bytes}`);
    return bytes;
  };
  const path = `extension-points/${TENON_EXTENSION_POINT_ID}/bindings/${encodeURIComponent(TENON_GUEST_KEY)}`;
  const list = JSON.parse(String(await get(path))) as Record<string, { contentAddress: string }>;
  const contents = Object.values(list).map(async ({ contentAddress }) =>
    (await get(`c/${contentAddress}`)).toString('base64'),
  );
  return { list, contents: await Promise.all(contents) };
}
