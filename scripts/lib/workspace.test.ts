import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findFiles, narrow, root } from './workspace.mjs';

describe('findFiles()', () => {
  it('finds what is ours and nothing that is installed', () => {
    const files = findFiles(['packages/*/package.json', 'node_modules/*/package.json']);
    assert.ok(files.includes('packages/protocol/package.json'));
    assert.deepEqual(
      files.filter((file) => file.includes('node_modules')),
      [],
    );
  });
});

describe('narrow()', () => {
  const files = ['packages/a/src/x.test.ts', 'packages/ab/src/y.test.ts', 'test/z.test.ts'];

  it('keeps everything when no place is named', () => {
    assert.deepEqual(narrow(files, []), files);
  });

  it('keeps what lies at or below a place, and not what only begins like it', () => {
    assert.deepEqual(narrow(files, ['packages/a']), ['packages/a/src/x.test.ts']);
    assert.deepEqual(narrow(files, [join(root, 'test'), './packages/ab/src/y.test.ts']), [
      'packages/ab/src/y.test.ts',
      'test/z.test.ts',
    ]);
  });
});

describe('scripts/test.mjs', () => {
  it('fails for a place where there is nothing to run', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts', 'test.mjs'), 'docs'], {
      encoding: 'utf8',
    });
    assert.equal(status, 1);
    assert.equal(stderr, 'Cannot run docs: there is nothing to run there.\n');
  });
});

describe('scripts', () => {
  const entries = findFiles(['scripts/*.mjs']).filter(
    (file) => file !== 'scripts/setup.mjs' && file !== 'scripts/run.mjs',
  );

  for (const entry of entries) {
    it(`say so when ${entry} runs on a Node.js that is too old`, () => {
      // Takes this one for an old one, which reads no TypeScript, before the script begins.
      const old =
        "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.20.2'});" +
        "Object.defineProperty(process,'version',{value:'v20.20.2'});";
      const { status, stderr } = spawnSync(process.execPath, ['--no-strip-types', '--import', old, join(root, entry)], {
        encoding: 'utf8',
      });
      assert.equal(status, 1);
      assert.match(stderr, /^This needs Node\.js 24\.7 or later and runs on v20\.20\.2\. Start it through npm/);
    });
  }
});
