import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { needsOwnProcess } from './needs-own-process.mjs';
import { mayRunAgain, testFiles } from './run-tests.mjs';
import { writeSharedProcesses } from './shared-processes.mjs';
import { slowestFiles } from './test-report.mjs';
import { root } from './workspace.mjs';

describe('testFiles()', () => {
  it('puts each file into one run, by its name', () => {
    const [quick, proof] = [testFiles('test'), testFiles('proof')];
    assert.ok(quick.length > 100 && proof.length > 10);
    assert.ok(quick.every((file) => file.endsWith('.test.ts')));
    assert.ok(proof.every((file) => file.endsWith('.proof.ts')));
  });
});

describe('mayRunAgain()', () => {
  const browser = 'packages/console/test/trace.proof.ts';
  it('is true for a few files of the proof that use a browser', () => {
    assert.ok(mayRunAgain([browser, 'test/e2e/mail.proof.ts']));
  });
  it('is false for any other file, for many files, and for none', () => {
    assert.ok(!mayRunAgain([browser, 'packages/server/test/collect-race.proof.ts']));
    assert.ok(!mayRunAgain(['test/e2e/story.test.ts']));
    assert.ok(!mayRunAgain(Array(5).fill(browser)));
    assert.ok(!mayRunAgain([]));
  });
});

describe('needsOwnProcess()', () => {
  const needs = (files: Readonly<Record<string, string>>) => {
    const folder = mkdtempSync(join(tmpdir(), 'tenon-tests-'));
    try {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(join(folder, name, '..'), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
      return needsOwnProcess('test/a.test.ts', folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it('is true for a file that changes or measures its process, and for one that imports a helper which does', () => {
    const changes = "process.env.PATH = '';";
    assert.ok(needs({ 'test/a.test.ts': "import './helpers/b.ts';", 'test/helpers/b.ts': changes }));
    for (const line of [
      "process.env.PATH = '';",
      "process.env['PATH'] = '';",
      'delete process.env.PATH;',
      "process.chdir('/');",
      'mock.timers.enable();',
      'process.memoryUsage();',
      'globalThis.fetch = answer;',
      "import cluster from 'node:cluster';",
    ])
      assert.ok(needs({ 'test/a.test.ts': line }), line);
  });

  it('is false for everything else: for types, comments, reading, and what a source of the product imports', () => {
    const text = [
      "import type { Cluster } from 'node:cluster';",
      "import { spawn } from 'node:child_process';",
      "// process.env.PATH = '';",
      'const { PATH } = process.env;',
      "import { a } from '../src/a.ts';",
    ].join('\n');
    assert.ok(!needs({ 'test/a.test.ts': text, 'src/a.ts': "import 'node:cluster';" }));
  });
});

describe('writeSharedProcesses()', () => {
  it('hands over each file once: alone, or as a suite of the file of its folder', () => {
    const alone = 'scripts/lib/run-tests.test.ts';
    const shared = ['packages/protocol/src/ids.test.ts', 'packages/protocol/src/names.test.ts'];
    const folder = mkdtempSync(join(tmpdir(), 'tenon-tests-'));
    try {
      const handed = writeSharedProcesses([...shared, alone], folder);
      const written = join(folder, '00-protocol-src-0.mjs');
      assert.deepEqual(handed, [written, alone]);
      const reporter = pathToFileURL(join(root, 'scripts', 'lib', 'test-report.mjs')).href;
      const { status, stdout } = spawnSync(process.execPath, ['--test', `--test-reporter=${reporter}`, written], {
        encoding: 'utf8',
        cwd: root,
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      });
      assert.equal(status, 0, stdout);
      for (const file of shared) assert.ok(stdout.includes(`▶ ${file}`));
      assert.match(stdout, /The slowest files:\n +\d\.\d s {2}packages\/protocol\/src\//);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('describeFile()', () => {
  it('keeps the tests of files apart that wait for the same module while they are loaded', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tenon-tests-'));
    try {
      const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
      write('slow.mjs', 'await new Promise((resolve) => setTimeout(resolve, 50));');
      for (const name of ['a', 'b'])
        write(
          `${name}.mjs`,
          `import './slow.mjs'; import { before, it } from 'node:test';
           let of; before(() => { of = '${name}'; }); it('is ' + '${name}', () => { if (of !== '${name}') throw of; });`,
        );
      const helper = pathToFileURL(join(root, 'test', 'helpers', 'file-suites.ts')).href;
      const suites = ['a', 'b'].map((name) => `describeFile('${name}', import.meta.resolve('./${name}.mjs'));`);
      write('both.mjs', `import { describeFile } from '${helper}'; ${suites.join('')}`);
      const { stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=spec', 'both.mjs'], {
        encoding: 'utf8',
        cwd: folder,
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      });
      assert.match(stdout, /▶ a\n {2}✔ is a .*\n✔ a .*\n▶ b\n {2}✔ is b /);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the report', () => {
  it('names the ten slowest files, the slowest first', () => {
    const durations = new Map(Array.from({ length: 12 }, (_, index) => [`${index}.test.ts`, index * 1000]));
    const lines = slowestFiles(durations).trim().split('\n');
    assert.equal(lines.length, 11);
    assert.equal(lines[1], '    11.0 s  11.test.ts');
  });

  it('fails a run in which no test ran', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tenon-tests-'));
    try {
      writeFileSync(join(folder, 'a.test.ts'), '');
      const reporter = pathToFileURL(join(root, 'scripts', 'lib', 'test-report.mjs')).href;
      const { status, stdout } = spawnSync(process.execPath, ['--test', `--test-reporter=${reporter}`, 'a.test.ts'], {
        encoding: 'utf8',
        cwd: folder,
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      });
      assert.match(stdout, /No test ran\./);
      assert.equal(status, 1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
