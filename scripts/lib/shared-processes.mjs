// Which test files share a process. Starting a process and loading the modules takes longer than most files' tests, so the
// files of a folder run one after the other in one process; those of a large folder in several, so that no core waits for the last.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { needsOwnProcess } from './needs-own-process.mjs';
import { root } from './workspace.mjs';

/** The most files that share a process. */
const maxShared = 30;

/**
 * Writes a file for each group that shares a process; in it, each test file is a suite, so that its hooks are its own.
 *
 * @param {string[]} files as `findFiles` returns them
 * @param {string} folder for the written files, which this run alone uses
 * @returns {string[]} what to hand to `node --test`: the written files, and those that take a process of their own
 */
export function writeSharedProcesses(files, folder) {
  mkdirSync(folder, { recursive: true });
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  /** @type {string[]} */
  const alone = [];
  for (const file of files) {
    if (needsOwnProcess(file)) {
      alone.push(file);
      continue;
    }
    const name = groupOf(file);
    groups.set(name, [...(groups.get(name) ?? []), file]);
  }
  const shared = [...groups].flatMap(([name, members]) =>
    splitEvenly(members).map((part, index) => ({ name: `${name}-${index}`, part })),
  );
  shared.sort((a, b) => durationOf(b.part) - durationOf(a.part));
  const written = shared.map(({ name, part }, index) => {
    // node's runner goes by the names: the longest begins first.
    const path = join(folder, `${String(index).padStart(2, '0')}-${name}.mjs`);
    const suites = part.map((file) => `describeFile('${file}', '${pathToFileURL(join(root, file))}');\n`);
    const helper = pathToFileURL(join(root, 'test', 'helpers', 'file-suites.ts'));
    writeFileSync(path, `import { describeFile } from '${helper}';\n${suites.join('')}`);
    return path;
  });
  return [...written, ...alone];
}

/**
 * How long files take, roughly: those beside their source are unit tests, the others start servers.
 *
 * @param {string[]} files
 */
function durationOf(files) {
  return files.reduce((sum, file) => sum + (file.includes('/src/') ? 1 : 3), 0);
}

/**
 * As few parts of about the same size as `maxShared` allows. Neighbours go into different parts: files of a kind take about as long.
 *
 * @param {string[]} members
 */
function splitEvenly(members) {
  const count = Math.ceil(members.length / maxShared);
  return Array.from({ length: count }, (_, part) => members.filter((_, index) => index % count === part));
}

/**
 * The package and the folder in it: `server-src`, `server-test`; `test` and `scripts` for what belongs to the whole.
 *
 * @param {string} file
 */
function groupOf(file) {
  const [top = '', second = '', third = ''] = file.split('/');
  return top === 'packages' || top === 'examples' ? `${second}-${third}` : top;
}
