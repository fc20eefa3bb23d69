import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { until } from './helpers/until.ts';

const scripts = join(dirname(import.meta.dirname), 'scripts');

/** Stands in for npm: notes how it was called, then does what a real one leaves behind: npm's own list of what is there. */
const fakeNpm = `
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
const args = process.argv.slice(2);
appendFileSync('npm-calls', args.join(' ') + '\\n');
const behaviour = process.env.FAKE_NPM ?? 'installs';
if (behaviour === 'fails') { console.error('npm error network: ECONNREFUSED'); process.exit(7); }
if (behaviour === 'hangs') await new Promise((resolve) => setTimeout(resolve, 60_000));
if (behaviour === 'slow') await new Promise((resolve) => setTimeout(resolve, 700));
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const fitting = Object.entries(packages).filter(([, entry]) => !entry.optional);
const wanted = args.includes('--omit=dev') ? fitting.filter(([, entry]) => !entry.dev && !packages[entry.resolved]?.dev) : fitting;
for (const [path, { bin }] of wanted) {
  if (!path.startsWith('node_modules/')) continue;
  mkdirSync(path, { recursive: true });
  writeFileSync(path + '/package.json', JSON.stringify({ bin, os: process.platform, cpu: process.arch }));
  if (bin) copyFileSync(process.env.FAKE_NODE, path + '/node');
}
mkdirSync('node_modules', { recursive: true });
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(wanted) }));
`;

/** Stands in for the build: leaves behind what a real one does. */
const fakeBuild = `
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
const { consoleBuild, currentFile, stampOf } = await import(new URL('lib/kept-build.mjs', import.meta.url));
if (process.env.FAKE_BUILD === 'fails') { console.error('main.tsx is wrong'); process.exit(1); }
const builds = consoleBuild.folder;
const name = stampOf('.', consoleBuild);
mkdirSync(builds + '/' + name, { recursive: true });
writeFileSync(builds + '/' + name + '/index.html', '');
writeFileSync(builds + '/' + currentFile, name);
appendFileSync('builds', '.');
`;

const lock = {
  packages: {
    '': { name: 'root', optionalDependencies: { elsewhere: '3.0.0' } },
    'node_modules/needed': { version: '1.0.0', integrity: 'sha512-a' },
    'node_modules/checker': { version: '2.0.0', integrity: 'sha512-b', dev: true },
    'node_modules/ours': { resolved: 'test/ours', link: true },
    'test/ours': { version: '1.0.0', dev: true },
    'node_modules/elsewhere': {
      version: '3.0.0',
      integrity: 'sha512-c',
      optional: true,
      os: ['aix'],
      dependencies: { beside: '^1.0.0' },
    },
    // It runs anywhere, but only what is for another machine needs it, so npm leaves it out.
    'node_modules/beside': { version: '1.2.0', integrity: 'sha512-d', optional: true },
  },
};

describe('scripts/setup.mjs', () => {
  let root: string;
  let children: ChildProcess[];

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'tenon-setup-'));
    children = [];
    mkdirSync(join(root, 'scripts'));
    for (const name of ['setup.mjs', 'run.mjs']) cpSync(join(scripts, name), join(root, 'scripts', name));
    cpSync(join(scripts, 'lib'), join(root, 'scripts', 'lib'), { recursive: true });
    writeFileSync(join(root, 'fake-npm.js'), fakeNpm);
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
    writeLock(lock);
  });

  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await rm(root, { recursive: true, force: true });
  });

  it('installs everything once and then nothing', async () => {
    const first = await setUp();
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stderr, /Setting up: .+\nSet up in \d+ s\.\n$/);
    assert.deepEqual(calls(), ['ci --ignore-scripts --no-audit --no-fund --loglevel=error']);

    const second = await setUp();
    assert.deepEqual(second, { code: 0, stderr: '' });
    assert.equal(calls().length, 1);
  });

  it('installs again when the lock file asks for another version', async () => {
    await setUp();
    writeLock({ packages: { ...lock.packages, 'node_modules/needed': { version: '1.0.1', integrity: 'sha512-d' } } });
    assert.equal((await setUp()).code, 0);
    assert.equal(calls().length, 2);
    assert.match(calls()[1] ?? '', /^ci /);
  });

  it('leaves development dependencies out for production and adds them later without clearing the rest away', async () => {
    await setUp(['--production']);
    await setUp(['--production']);
    assert.deepEqual(calls(), ['ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error']);

    await setUp();
    await setUp(['--production']);
    assert.deepEqual(calls().slice(1), ['install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error']);
  });

  it('says what failed, ends with 1, and begins again the next time', async () => {
    const failed = await setUp([], { FAKE_NPM: 'fails' });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /ECONNREFUSED/);
    assert.match(failed.stderr, /Set-up failed: `npm ci .+` failed with exit code 7; .+ needs the package registry/);

    assert.equal((await setUp()).code, 0);
    assert.equal(calls().length, 2);
  });

  it('takes what npm left half-way for nothing', async () => {
    await setUp();
    const list = join(root, 'node_modules', '.package-lock.json');
    writeFileSync(list, readFileSync(list, 'utf8').slice(0, 40));
    assert.equal((await setUp()).code, 0);
    assert.equal(calls().length, 2);
  });

  it('installs again when the folder of a package is missing', async () => {
    await setUp();
    await rm(join(root, 'node_modules', 'needed'), { recursive: true });
    assert.equal((await setUp()).code, 0);
    assert.equal(calls().length, 2);
  });

  it("installs what only the proof needs in that folder, and nothing of it for the tests' sake", async () => {
    for (const folder of ['test/proof', 'packages/instrument/corpus']) {
      mkdirSync(join(root, folder), { recursive: true });
      writeFileSync(join(root, folder, 'package-lock.json'), JSON.stringify(lock));
    }
    await setUp();
    assert.deepEqual(calls(), ['ci --ignore-scripts --no-audit --no-fund --loglevel=error']);
    const folderCalls = (folder: string) => existsSync(join(root, folder, 'npm-calls'));
    assert.equal(folderCalls('test/proof'), false);
    assert.equal((await setUp(['--proof'])).code, 0);
    assert.equal(calls().length, 1);
    assert.ok(folderCalls('test/proof') && folderCalls('packages/instrument/corpus'));
    assert.deepEqual(await setUp(['--proof']), { code: 0, stderr: '' });
  });

  describe('with a Node.js from the registry', { skip: process.platform === 'win32' }, () => {
    const link = () => join(root, 'node_modules', '.bin', 'node');

    beforeEach(() => {
      writeFileSync(
        join(root, 'package.json'),
        JSON.stringify({ type: 'module', optionalDependencies: { brought: '1.0.0' } }),
      );
      const brought = { version: '1.0.0', integrity: 'sha512-e', bin: { node: 'node' } };
      writeLock({ packages: { ...lock.packages, 'node_modules/brought': brought } });
      writeFileSync(join(root, 'fake-node'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
      writeFileSync(join(root, 'wrong-node'), '#!/bin/sh\necho "ld: libc.so.6 is missing" >&2\nexit 127\n', {
        mode: 0o755,
      });
    });

    it('links it where npm did not, as npm 10 does not', async () => {
      const { code, stderr } = await setUp([], { FAKE_NODE: join(root, 'fake-node') });
      assert.equal(code, 0, stderr);
      assert.equal(readlinkSync(link()), '../brought/node');
    });

    it('runs a script on it, with its arguments, exit code and signals', async () => {
      for (const options of ['', '--import=data:text/javascript,delete%20process.execve']) {
        await runScripts({ FAKE_NODE: join(root, 'fake-node'), NODE_OPTIONS: options });
      }
    });

    it('repairs a missing or wrong link without installing again', async () => {
      await setUp([], { FAKE_NODE: join(root, 'fake-node') });
      for (const damage of [() => rmSync(link()), () => rmSync(link()) ?? symlinkSync('/nowhere/node', link())]) {
        damage();
        assert.deepEqual(await setUp(), { code: 0, stderr: '' });
        assert.equal(readlinkSync(link()), '../brought/node');
      }
      assert.equal(calls().length, 1);
    });

    it("falls back on the machine's own where it does not run", async () => {
      const { code, stderr } = await setUp([], { FAKE_NODE: join(root, 'wrong-node') });
      assert.equal(code, 0, stderr);
      assert.equal(existsSync(link()), false);
    });

    it("names the true reason where it does not run and the machine's own is too old", async () => {
      const versions = join(root, 'scripts', 'lib', 'node-version.mjs');
      writeFileSync(versions, readFileSync(versions, 'utf8').replace("oldestNode = '24.7'", "oldestNode = '99.1'"));
      const { code, stderr } = await setUp([], { FAKE_NODE: join(root, 'wrong-node') });
      assert.equal(code, 1);
      assert.match(
        stderr,
        /the Node\.js from the package registry does not run .+libc\.so\.6 is missing.+ Install Node\.js 99\.1/,
      );
    });
  });

  it('runs a script in its own process, with its arguments, exit code and signals', () => runScripts({}));

  it('ends npm when it is ended itself, gives the lock back, and begins again the next time', async () => {
    await setUp(['--production']);
    const interrupted = start([], { FAKE_NPM: 'hangs' });
    await until(() => calls().length === 2);
    interrupted.child.kill('SIGTERM');
    const { code, stderr } = await interrupted.ended;
    assert.equal(code, 128 + 15);
    assert.match(stderr, /interrupted \(SIGTERM\)/);
    assert.equal(existsSync(join(root, '.setup.lock')), false);

    assert.equal((await setUp(['--production'])).code, 0);
    assert.match(calls()[2] ?? '', /^ci /, 'half an installation is cleared away');
  });

  it('runs once when two are started at the same time', async () => {
    const results = await Promise.all([setUp([], { FAKE_NPM: 'slow' }), setUp([], { FAKE_NPM: 'slow' })]);
    assert.deepEqual(
      results.map(({ code }) => code),
      [0, 0],
    );
    assert.equal(calls().length, 1);
    assert.equal(results.filter(({ stderr }) => /Another set-up is running here/.test(stderr)).length, 1);
  });

  it('builds the console when a source of it has changed, and only then', async () => {
    plantConsole();
    assert.match((await setUp()).stderr, /Set up in \d+ s\.\nBuilding the console …\nBuilt in [\d.]+ s\.\n$/);
    assert.deepEqual(await setUp(), { code: 0, stderr: '' });
    writeFileSync(join(root, 'packages', 'console', 'src', 'main.tsx'), 'two');
    assert.match((await setUp(['--production'])).stderr, /^Building the console/);
    writeFileSync(join(root, 'packages', 'console', 'src', 'main.test.ts'), 'a test is no source');
    assert.deepEqual(await setUp(), { code: 0, stderr: '' });
    assert.equal(builds(), 2);
  });

  it('says that the console could not be built, ends with 1, and tries again the next time', async () => {
    plantConsole();
    const failed = await setUp([], { FAKE_BUILD: 'fails' });
    assert.equal(failed.code, 1);
    assert.match(
      failed.stderr,
      /main\.tsx is wrong\nSet-up failed: the console could not be built; see the messages above\./,
    );
    assert.equal((await setUp()).code, 0);
    assert.equal(builds(), 1);
  });

  it('takes over from a set-up that was killed', async () => {
    const file = join(root, '.setup.lock');
    writeFileSync(file, '1 0 0');
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(file, longAgo, longAgo);
    assert.equal((await setUp()).code, 0);
    assert.equal(existsSync(file), false);
  });

  function start(args: string[], env: Record<string, string> = {}, script = 'setup.mjs', cwd = tmpdir()) {
    const child = spawn(process.execPath, [join(root, 'scripts', script), ...args], {
      cwd, // it finds its root by itself
      env: { ...process.env, ...env, npm_execpath: join(root, 'fake-npm.js') },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    children.push(child);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const ended = once(child, 'close').then(([code]) => ({ code: code as number, stderr }));
    return { child, ended };
  }

  async function runScripts(env: Record<string, string>): Promise<void> {
    writeFileSync(
      join(root, 'scripts', 'task.mjs'),
      `import { writeFileSync } from 'node:fs';
       if (process.argv[2] === 'wait') {
         process.on('SIGTERM', () => process.exit(5));
         setInterval(() => {}, 1000);
         writeFileSync('started', '');
       } else {
         writeFileSync('arguments', process.argv.slice(2).join(' '));
         process.exitCode = 3;
       }`,
    );
    const ran = await start(['scripts/task.mjs', 'a b', '--c'], env, 'run.mjs', root).ended;
    assert.equal(ran.code, 3, ran.stderr);
    assert.equal(readFileSync(join(root, 'arguments'), 'utf8'), 'a b --c');
    const waiting = start(['--production', 'scripts/task.mjs', 'wait'], env, 'run.mjs', root);
    await until(() => existsSync(join(root, 'started')));
    waiting.child.kill('SIGTERM');
    assert.equal((await waiting.ended).code, 5);
    await rm(join(root, 'started'));
  }

  function setUp(args: string[] = [], env?: Record<string, string>) {
    return start(args, env).ended;
  }

  function calls(): string[] {
    const file = join(root, 'npm-calls');
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  }

  function plantConsole(): void {
    mkdirSync(join(root, 'packages', 'console', 'src'), { recursive: true });
    writeFileSync(join(root, 'packages', 'console', 'package.json'), '{}');
    writeFileSync(join(root, 'packages', 'console', 'src', 'main.tsx'), 'one');
    writeFileSync(join(root, 'scripts', 'build-console.mjs'), fakeBuild);
  }

  function builds(): number {
    return readFileSync(join(root, 'builds'), 'utf8').length;
  }

  function writeLock(content: object): void {
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify(content));
  }
});
