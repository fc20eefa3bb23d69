import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';

const compiler = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');

/** Compiles programs of a folder as those who install a package do: strictly, and by both ways of finding what is imported. */
export function assertCompiles(folder: string, ...programs: readonly string[]): void {
  for (const [module, resolution] of [
    ['esnext', 'bundler'],
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
  ] as const) {
    const options = ['--strict', '--noEmit', '--target', 'es2024', '--lib', 'es2024,dom', '--types', ''];
    const args = [compiler, ...options, '--module', module, '--moduleResolution', resolution, ...programs];
    const compiled = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    assert.equal(compiled.status, 0, compiled.stdout + compiled.stderr);
  }
}
