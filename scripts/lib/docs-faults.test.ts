import assert from 'node:assert/strict';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { docsFaults } from './docs-faults.mjs';
import { root as workspace } from './workspace.mjs';

describe('docsFaults()', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'tenon-docs-'));
    symlinkSync(join(workspace, 'node_modules'), join(root, 'node_modules'), 'junction');
    cpSync(join(workspace, 'tsconfig.json'), join(root, 'tsconfig.json'));
  });

  afterEach(() => rm(root, { recursive: true, force: true }));

  it('finds nothing wrong with a page that is right', () => {
    const page = [
      '# A page, and more',
      '[here](#a-page-and-more) [there](other.md#second) [far](https://example.com/#x) `[code](gone.md)`',
      '```sh',
      'echo "$HOME"',
      '```',
      '```json',
      '{ "a": 1 }',
      '```',
      '```ts',
      'const sum: number = await Promise.resolve(1);',
      'console.log(sum);',
      '```',
    ];
    assert.deepEqual(faultsOf(page), []);
  });

  it('finds links to files and headings that are not there', () => {
    assert.deepEqual(faultsOf(['', '[a](gone.md)', '[b](other.md#third)']), [
      'page.md:2 links to gone.md: there is no such file',
      'page.md:3 links to other.md#third: there is no such heading',
    ]);
  });

  it('finds shell lines and JSON that cannot be parsed', () => {
    const faults = faultsOf(['```sh', 'if true; then', '```', '```json', '{ a: 1 }', '```']);
    assert.equal(faults.length, 2);
    assert.match(faults[0] ?? '', /^page.md:2 is not valid shell: /);
    assert.match(faults[1] ?? '', /^page.md:5 is not valid JSON: /);
  });

  it('finds TypeScript that does not type-check, at its line of the page', () => {
    const faults = faultsOf(['# Page', '', '```ts', 'const right = 1;', "const wrong: number = 'text';", '```']);
    assert.equal(faults.filter((fault) => /^page.md:5 error TS2322: /.test(fault)).length, 1, faults.join('\n'));
  });

  function faultsOf(lines: string[]): string[] {
    writeFileSync(join(root, 'page.md'), lines.join('\n'));
    writeFileSync(join(root, 'other.md'), '# First\n## Second\n');
    return docsFaults(root, ['page.md']);
  }
});
