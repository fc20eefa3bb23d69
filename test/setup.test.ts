import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

const scripts = join(dirname(import.meta.dirname), 'scripts');

/** Stands in for npm: notes how it was called, then does what a real one leaves behind: npm's own list of what is there. */
const fakeNpm = `
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
const args = process.argv.slice(2);
appendFileSync('npm-calls', args.join(' ') + '\\n');
const behaviour = process.env.FAKE_NPM ?? 'installs';
if (behaviour === 'fails') { console.error('npm error network: ECONNREFUSED'); process.exit(7); }
if (behaviour === 'hangs') await new Promise((resolve) => setTimeout(resolve, 60_000));
if (behaviour === 'slow') await new Promise((resolve) => setTimeout(resolve, 700));
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const fitting = Object.entries(packages).filter(([, entry]) => !entry.optional);
const wanted = args.includes('--omit=dev') ? fitting.filter(([, entry]) => !entry.dev && !packages[entry.resolved]?.dev) : fitting;
mkdirSync('node_modules', { recursive: true });
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(wanted) }));
`;

/** Stands in for the build: leaves behind what a real one does. */
const fakeBuild = `
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
const { consoleBuilds, consoleStamp, currentFile } = await import(new URL('lib/console-build.mjs', import.meta.url));
if (process.env.FAKE_BUILD === 'fails') { console.error('main.tsx is wrong'); process.exit(1); }
const builds = consoleBuilds('.');
mkdirSync(builds + '/' + consoleStamp('.'), { recursive: true });
writeFileSync(builds + '/' + consoleStamp('.') + '/index.html', '');
writeFileSync(builds + '/' + currentFile, consoleStamp('.'));
appendFileSync('builds', '.');
`;

const lock = {
  packages: {
    '': { name: 'house', optionalDependencies: { elsewhere: '3.0.0' } },
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
    cpSync(join(scripts, 'setup.mjs'), join(root, 'scripts', 'setup.mjs'));
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
    assert.deepEqual(calls(), ['ci --no-audit --no-fund --loglevel=error']);

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
    assert.deepEqual(calls(), ['ci --no-audit --no-fund --loglevel=error --omit=dev']);

    await setUp();
    await setUp(['--production']);
    assert.deepEqual(calls().slice(1), ['install --no-save --no-audit --no-fund --loglevel=error']);
  });

  it('says what failed, ends with 1, and begins again the next time', async () => {
    const failed = await setUp([], { FAKE_NPM: 'fails' });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /ECONNREFUSED/);
    assert.match(failed.stderr, /Set-up failed: `npm ci .+` ended with 7; .+ needs the package registry/);

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
      /main\.tsx is wrong\nSet-up failed: the console could not be built; why stands above\./,
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

  function start(args: string[], env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [join(root, 'scripts', 'setup.mjs'), ...args], {
      cwd: tmpdir(), // it finds its root by itself
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

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries === 400) throw new Error('It did not happen within 20 s');
    await sleep(50);
  }
}
