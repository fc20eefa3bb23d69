import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { instrument } from '../../src/index.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const source = 'packages/instrument/src';

export interface Base {
  readonly revision: string;
  readonly instrument: typeof instrument;
}

/**
 * `instrument()` as it is at a revision, loaded beside the one of today. Undefined where there is no such revision, or where
 * it is the same.
 */
export async function loadBase(revision: string): Promise<Base | undefined> {
  const { status } = spawnSync('git', ['diff', '--quiet', revision, '--', source], { cwd: root, stdio: 'ignore' });
  if (status !== 1) return undefined;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tenon-base-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const archive = execFileSync('git', ['archive', revision, source], { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  // Its package says that its files are modules; the archive is of the sources alone.
  fs.writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  const module = await import(pathToFileURL(path.join(folder, source, 'index.ts')).href);
  return { revision, instrument: module.instrument };
}
