import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const folder = path.join(import.meta.dirname, '../../corpus');

/** Resolves packages of the corpus, which is no part of the workspace. */
export const corpusRequire = createRequire(path.join(folder, 'package.json'));

/** Why the corpus cannot be used; false if it can. `npm run proof` installs it. */
export const corpusIsMissing: string | false =
  fs.existsSync(path.join(folder, 'node_modules/.package-lock.json')) === false &&
  'the corpus of real modules is not installed (npm run setup -- --proof)';

/** All module files of the corpus, by their paths below its `node_modules`. */
export function corpusFiles(): string[] {
  const modules = path.join(folder, 'node_modules');
  return fs.globSync('**/*.{wasm,wasm.gz}', { cwd: modules }).sort();
}

export function corpusPath(file: string): string {
  return path.join(folder, 'node_modules', file);
}
