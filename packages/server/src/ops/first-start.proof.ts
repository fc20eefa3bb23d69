import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it, mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { closeContext, demoOptions, openContext, withSteps } from '../../test/helpers/first-start-services.ts';
import { authenticateApiKey, authenticateToken } from '../auth/authenticate.ts';
import { signIn } from '../auth/sign-in.ts';
import { signUp } from '../auth/sign-up.ts';
import { revokeToken } from '../auth/tokens.ts';
import { createUser } from '../auth/users.ts';
import type { Deps } from '../deps.ts';
import { contentAddressOf } from '../plugins/publish.ts';
import { type FirstStart, type FirstStartOptions, firstStart, noDemoReason } from './first-start.ts';
import { readQuickstart } from './quickstart-file.ts';

const demoMade = { state: 'demo_made', hasSecrets: true, hasSignIn: true };

const run = promisify(execFile);
const child = fileURLToPath(new URL('../../test/helpers/first-start-child.ts', import.meta.url));
const folders: string[] = [];

after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
});

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-first-start-'));
  folders.push(folder);
  return folder;
}

async function withContext<T>(dataDir: string, work: (deps: Deps) => Promise<T>): Promise<T> {
  const deps = await openContext(dataDir);
  try {
    return await work(deps);
  } finally {
    await closeContext(deps);
  }
}

function start(dataDir: string, change: Partial<FirstStartOptions> = {}): Promise<FirstStart> {
  return withContext(dataDir, (deps) => firstStart(deps, { ...demoOptions(dataDir), ...change }));
}

function asEmpty(made: FirstStart): FirstStart & { readonly state: 'empty' } {
  assert.ok(made.state === 'empty');
  return made;
}

const aBrowser = {
  userAgent: null,
  address: '::1',
  network: '::1',
  sessionSecret: undefined,
  browserSecret: undefined,
};

/** Asserts that every credential in `quickstart.env` works, and that nothing was created twice. */
async function assertWholeDemo(dataDir: string): Promise<void> {
  const value = (name: string) => readQuickstart(dataDir).get(name) ?? '';
  await withContext(dataDir, async (deps) => {
    const { read } = deps.store;
    const actor = await authenticateToken(deps, value('TENON_TOKEN'));
    const signedIn = { email: value('TENON_EMAIL'), password: value('TENON_PASSWORD') };
    const started = await signIn(deps, signedIn, aBrowser);
    assert.equal('session' in started && started.session.userId, actor.userId);
    assert.deepEqual(actor.scopes, ['read', 'publish', 'manage']);
    assert.equal(actor.userId, value('TENON_USER_ID'));
    assert.equal((await authenticateApiKey(deps, value('TENON_API_KEY'))).userId, actor.userId);
    const apps = await read.appsOf(actor.userId, undefined, {});
    assert.deepEqual(
      apps.map((app) => app.id),
      [value('TENON_APP_ID')],
    );
    const extensionPoints = await read.extensionPoints(apps[0]?.id ?? 'app_', {});
    assert.deepEqual(
      extensionPoints.map((extensionPoint) => extensionPoint.id),
      [value('TENON_EXTENSION_POINT_ID')],
    );
    const [extensionPoint] = extensionPoints;
    assert.ok(extensionPoint);
    assert.deepEqual(Object.keys(JSON.parse(extensionPoint.schemaJson).exports), ['greet']);
    const bindings = await read.bindings(extensionPoint.id, value('TENON_GUEST_KEY'));
    const sample = await readFile(new URL('../../sample/greet.wasm', import.meta.url));
    assert.deepEqual(
      bindings.map((binding) => [binding.name, binding.contentAddress]),
      [['greet', contentAddressOf(sample)]],
    );
    assert.equal((await deps.contents.find(contentAddressOf(sample)))?.size, sample.length);
    const invitations = await read.invitations(extensionPoint.appId, {});
    assert.deepEqual(
      invitations.map((invitation) => invitation.status),
      ['accepted'],
    );
  });
  assert.equal((await stat(join(dataDir, 'quickstart.env'))).mode & 0o777, 0o600);
  const leftOver = (await readdir(dataDir)).filter((name) => /\.(new|tmp)$/.test(name));
  assert.deepEqual(leftOver, []);
}

describe('firstStart()', () => {
  it('creates a demo whose credentials in quickstart.env all work', async () => {
    const dataDir = await makeFolder();
    assert.deepEqual(await start(dataDir), demoMade);
    await assertWholeDemo(dataDir);
    assert.equal(readQuickstart(dataDir).get('TENON_URL'), 'http://localhost:8366');
  });

  it('quotes any URL for the shell', async () => {
    const dataDir = await makeFolder();
    const url = 'http://localhost:8366/it\'s $HOME `date` "quoted"';
    await start(dataDir, { url });
    const script = '. "$0" && printf "%s\\n" "$TENON_URL" "$TENON_GUEST_KEY"';
    const { stdout } = await run('sh', ['-c', script, join(dataDir, 'quickstart.env')]);
    assert.equal(stdout, `${url}\ndemo/acme\n`);
  });

  it('renews an expired token and API key, but not revoked ones', async () => {
    const dataDir = await makeFolder();
    await start(dataDir);
    const change = (sql: string) => {
      const database = new DatabaseSync(join(dataDir, 'tenon.db'));
      database.exec(sql);
      database.close();
    };
    const secrets = () => ['TENON_TOKEN', 'TENON_API_KEY'].map((name) => readQuickstart(dataDir).get(name));
    const before = secrets();
    const inUse = { state: 'in_use', hasSecrets: true, hasSignIn: true };
    change('update tokens set expiresAtMs = 1; update api_keys set expiresAtMs = 1');
    assert.deepEqual(await start(dataDir), inUse);
    const renewed = secrets();
    assert.ok(renewed.every((secret, at) => secret !== undefined && secret !== before[at]));
    await assertWholeDemo(dataDir);
    await start(dataDir);
    assert.deepEqual(secrets(), renewed, 'what works stays');
    change('delete from tokens');
    assert.equal((await start(dataDir)).hasSecrets, false);
    assert.deepEqual(secrets(), renewed, 'what was revoked stays revoked');
  });

  it('writes the URL at every start, and the rest once', async () => {
    const dataDir = await makeFolder();
    await start(dataDir);
    const before = readQuickstart(dataDir);
    assert.deepEqual(await start(dataDir, { url: 'http://localhost:9999' }), {
      state: 'in_use',
      hasSecrets: true,
      hasSignIn: true,
    });
    assert.deepEqual(readQuickstart(dataDir), new Map([...before, ['TENON_URL', 'http://localhost:9999']]));
    await assertWholeDemo(dataDir);
  });

  it('keeps lines that the user added to the file', async () => {
    const dataDir = await makeFolder();
    await start(dataDir);
    const file = join(dataDir, 'quickstart.env');
    const text = await readFile(file, 'utf8');
    await writeFile(file, `${text}# mine\nMY_PLUGIN='a b'`);
    await start(dataDir, { url: 'http://localhost:9999' });
    const expected = `${text.replace(/^TENON_URL=.*$/m, 'TENON_URL=http://localhost:9999')}# mine\nMY_PLUGIN='a b'\n`;
    assert.equal(await readFile(file, 'utf8'), expected);
  });

  it('creates no demo with --no-demo, and writes only the URL', async () => {
    const dataDir = await makeFolder();
    const { setUpLink, ...rest } = asEmpty(await start(dataDir, { demo: false }));
    assert.deepEqual(rest, { state: 'empty', reason: 'declined', hasSecrets: false, hasSignIn: false });
    assert.ok(setUpLink !== undefined);
    assert.deepEqual([...readQuickstart(dataDir).keys()], ['TENON_URL']);
    assert.equal(await withContext(dataDir, (deps) => deps.store.read.anyUser()), false);
  });

  it('creates a link for the first account at each start, and all work until an account exists', async () => {
    const dataDir = await makeFolder();
    const links = [await start(dataDir, { demo: false }), await start(dataDir, { host: '0.0.0.0' })].map(
      (made) => asEmpty(made).setUpLink ?? '',
    );
    for (const link of links) assert.match(link, /^http:\/\/localhost:8366\/set-up#code=[A-Za-z0-9_-]{43}$/);
    const [first = '', second = ''] = links.map((link) => link.slice(link.indexOf('=') + 1));
    await withContext(dataDir, async (deps) => {
      const wish = { name: 'Olga', email: 'olga@example.org', password: 'magnolia tugboat 17', linkCode: first };
      await signUp(deps, wish, aBrowser);
      await assert.rejects(signUp(deps, { ...wish, linkCode: second }, aBrowser), { code: 'link_expired' });
      await assert.rejects(signUp(deps, wish, aBrowser), { code: 'link_used' });
    });
    assert.deepEqual(await start(dataDir, { demo: false }), { state: 'in_use', hasSecrets: false, hasSignIn: false });
  });

  it('creates no link on a server with instrumentation only', async () => {
    const dataDir = await makeFolder();
    assert.deepEqual(await start(dataDir, { only: 'instrument' }), {
      state: 'empty',
      reason: 'instrument_only',
      hasSecrets: false,
      hasSignIn: false,
    });
  });

  it('creates the demo at a later start if the folder is still empty', async () => {
    const dataDir = await makeFolder();
    await start(dataDir, { demo: false });
    assert.deepEqual(await start(dataDir), demoMade);
    await assertWholeDemo(dataDir);
  });

  it('reports whether the secrets still work', async () => {
    const dataDir = await makeFolder();
    await start(dataDir);
    await withContext(dataDir, async (deps) => {
      const owner = await authenticateToken(deps, readQuickstart(dataDir).get('TENON_TOKEN') ?? '');
      const withoutToken = { state: 'in_use', hasSecrets: false, hasSignIn: true };
      const later = { ...deps, clock: () => Date.now() + 91 * 24 * 60 * 60 * 1000 };
      assert.deepEqual(await firstStart(later, { ...demoOptions(dataDir), demo: false }), withoutToken);
      assert.deepEqual(await firstStart(deps, demoOptions(dataDir)), {
        state: 'in_use',
        hasSecrets: true,
        hasSignIn: true,
      });
      await revokeToken(deps, owner, owner.tokenId);
      assert.deepEqual(await firstStart(deps, demoOptions(dataDir)), withoutToken);
    });
  });

  it('creates no demo in a folder with users', async () => {
    const dataDir = await makeFolder();
    await withContext(dataDir, (deps) => createUser(deps, { name: 'Ada', email: null }));
    assert.deepEqual(await start(dataDir, { demo: true }), { state: 'in_use', hasSecrets: false, hasSignIn: false });
    assert.deepEqual([...readQuickstart(dataDir).keys()], ['TENON_URL']);
  });

  it('replaces the secrets of a database that was deleted', async () => {
    const dataDir = await makeFolder();
    await start(dataDir);
    const before = readQuickstart(dataDir).get('TENON_TOKEN');
    for (const name of await readdir(dataDir)) if (name.startsWith('tenon.db')) await rm(join(dataDir, name));
    await start(dataDir);
    assert.notEqual(readQuickstart(dataDir).get('TENON_TOKEN'), before);
    await assertWholeDemo(dataDir);
  });

  it('keeps the old file when it cannot write a new one', async () => {
    const dataDir = await makeFolder();
    await start(dataDir);
    const before = await readFile(join(dataDir, 'quickstart.env'), 'utf8');
    const failing = mock.method(fs, 'renameSync', () => {
      throw Object.assign(new Error('rename'), { code: 'EIO' });
    });
    syncBuiltinESMExports();
    await assert.rejects(start(dataDir, { url: 'http://localhost:9999' }), { code: 'EIO' });
    failing.mock.restore();
    syncBuiltinESMExports();
    assert.deepEqual(await readdir(dataDir).then((names) => names.filter((name) => name.endsWith('.tmp'))), []);
    assert.equal(await readFile(join(dataDir, 'quickstart.env'), 'utf8'), before);
  });

  it('creates one demo when several processes start at the same time', async () => {
    const dataDir = await makeFolder();
    const outputs = await Promise.all([1, 2, 3].map(() => run(process.execPath, [child, dataDir])));
    const states = outputs.map(({ stdout }) => JSON.parse(stdout).state).sort();
    assert.deepEqual(states, ['demo_made', 'in_use', 'in_use']);
    await assertWholeDemo(dataDir);
  });

  it('is completed or repeated by the next start after a SIGKILL at any step', async () => {
    const steps: string[] = [];
    const dataDir = await makeFolder();
    await withContext(dataDir, (deps) =>
      firstStart(
        withSteps(deps, (name) => steps.push(name)),
        demoOptions(dataDir),
      ),
    );
    const at = (name: string, from = 0) => steps.indexOf(name, from) + 1;
    const made = at('commit', at('insertUser'));
    const kills = [
      at('leaseBlob'),
      at('put blob'),
      at('begin', at('put blob')),
      at('insertUser'),
      at('putGuestUser'),
      at('insertVersion'),
      made, // the pending file exists, nothing is committed
      at('committed', made), // committed, but quickstart.env doesn't exist
      at('tokenByHash'),
      at('commit', made), // both quickstart.env and the pending file exist
    ];
    assert.ok(!kills.includes(0), steps.join());
    await Promise.all(
      kills.map(async (kill) => {
        const step = `before "${steps[kill - 1]}" (step ${kill})`;
        const folder = await makeFolder();
        const died = await run(process.execPath, [child, folder, String(kill)]).catch((error) => error);
        assert.equal(died.signal, 'SIGKILL', step);
        const state = kill > made ? 'in_use' : 'demo_made';
        assert.deepEqual(await start(folder), { state, hasSecrets: true, hasSignIn: true }, step);
        await assertWholeDemo(folder);
      }),
    );
  });

  it('writes the file from several processes at the same time', async () => {
    const dataDir = await makeFolder();
    const code = `
      const { writeQuickstart } = await import(${JSON.stringify(new URL('./quickstart-file.ts', import.meta.url))});
      for (let port = 1; port <= 300; port++) writeQuickstart(process.argv[1], 'http://localhost:' + process.pid + port);
    `;
    const write = () => run(process.execPath, ['--input-type=module', '--eval', code, dataDir]);
    await Promise.all([write(), write(), write()]);
    assert.deepEqual(await readdir(dataDir), ['quickstart.env']);
  });

  it('deletes the files of an interrupted write', async () => {
    const dataDir = await makeFolder();
    const temporary = join(dataDir, 'quickstart.env.0123456789abcdef.tmp');
    await writeFile(temporary, 'TENON_TOK');
    await utimes(temporary, 1, 1);
    await writeFile(join(dataDir, 'quickstart.env.0123456789abcdef.new'), 'TENON_TOKEN=tnn_unk');
    await start(dataDir);
    await assertWholeDemo(dataDir);
  });
});

describe('noDemoReason()', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', 'LOCALHOST', '::1', '[::1]']) {
    it(`allows the demo on ${host} except with --no-demo`, () => {
      assert.equal(noDemoReason({ host, demo: undefined, only: undefined }), undefined);
      assert.equal(noDemoReason({ host, demo: false, only: undefined }), 'declined');
    });
  }
  for (const host of ['0.0.0.0', '::', '192.168.1.2', 'example.org', '127.example.org', '::ffff:10.0.0.1']) {
    it(`refuses the demo on ${host} except with --demo`, () => {
      assert.equal(noDemoReason({ host, demo: undefined, only: undefined }), 'public_host');
      assert.equal(noDemoReason({ host, demo: true, only: undefined }), undefined);
    });
  }
  it('refuses the demo on a server with instrumentation only', () => {
    assert.equal(noDemoReason({ host: '127.0.0.1', demo: true, only: 'instrument' }), 'instrument_only');
  });
});
