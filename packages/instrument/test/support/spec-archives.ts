import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** `shared/wasm-spec` beside the project or above it: the specification's tests as data. */
function findArchives(): string | undefined {
  for (let folder = import.meta.dirname; ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, 'shared/wasm-spec');
    if (fs.existsSync(path.join(candidate, 'core.tar.gz'))) return candidate;
    if (folder === path.dirname(folder)) return undefined;
  }
}

const archives = findArchives();

/** Why the specification's tests can't run; `false` when they can. */
export const specIsMissing = archives === undefined && 'there is no folder shared/wasm-spec above the project';

/** Unpacks the specification's scripts, each into a folder with `out.json` and its modules. */
export function unpackSpec(): { readonly scripts: readonly string[]; readonly remove: () => void } {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'tenon-wasm-spec-'));
  for (const archive of ['core.tar.gz', 'legacy.tar.gz']) {
    execFileSync('tar', ['xzf', path.join(archives ?? '', archive), '-C', folder]);
  }
  const scripts = fs.globSync('*/*/out.json', { cwd: folder }).map((file) => path.join(folder, path.dirname(file)));
  return { scripts, remove: () => fs.rmSync(folder, { recursive: true }) };
}
