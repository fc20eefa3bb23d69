import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createClient } from '@tenon/client';
import { diskStore } from '@tenon/client/disk';
import type { SigningKey } from '@tenon/client/provenance';
import { createSigner, published } from '../packages/client/test/helpers/attestations.ts';
import { numberedModule } from '../packages/client/test/helpers/numbered-module.ts';
import { openStage, type Stage } from '../packages/client/test/helpers/stage.ts';
import { openCiAuthority, provenanceOf } from '../packages/server/test/helpers/ci-authority.ts';
import type { Report, Task } from './engines/client-verify.mjs';
import { buildPackages, openEnginePages, otherEngines, runInEngine, whyNotHere } from './helpers/engines.ts';
import { createRandom } from './helpers/random.ts';
import { tenon, withoutTenon } from './helpers/server.ts';

const random = createRandom(5);
const guestKey = 'customers/initech';
const modules = [1, 2].map((number) => numberedModule(number, random));
const [one, two] = modules;
assert.ok(one && two);

describe('provenance of a real server', () => {
  let folder: string;
  let stage: Stage;
  let keys: readonly SigningKey[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-provenance-'));
    buildPackages(folder, 'client');
    stage = await openStage();
    await stage.invite(guestKey);
    await stage.publish(guestKey, 'first', one);
    const response = await fetch(`${stage.url}/.well-known/tenon-signing-keys.json`);
    ({ keys } = (await response.json()) as { readonly keys: readonly SigningKey[] });
    await writeFile(join(folder, 'keys.json'), JSON.stringify({ keys }));
  });
  after(async () => {
    await stage?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const key = () => ({ extensionPointId: stage.extensionPointId, guestKey });
  const plugin = (name = 'first') =>
    `${stage.extensionPointId}/plugin/${stage.server.quickstart.TENON_USER_ID}/${name}`;
  async function run(...args: string[]) {
    const dataDir = join(stage.server.folder, 'tenon-data');
    const env = { ...withoutTenon(process.env), ...stage.server.quickstart, TENON_DATA_DIR: dataDir };
    try {
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [tenon, ...args], { cwd: folder, env });
      return { code: 0, stdout, stderr };
    } catch (error) {
      return error as { readonly code: number; readonly stdout: string; readonly stderr: string };
    }
  }

  it('is verified by a host, which restarts while the server is down', async () => {
    const store = diskStore({ directory: join(folder, 'host') });
    const options = { token: stage.token, baseUrl: stage.url, streaming: false, store, verify: 'require' } as const;
    const host = createClient({ ...options, trustedKeys: keys });
    const { provenance } = await host.loadPlugin(key());
    assert.ok(provenance?.state === 'verified');
    assert.equal(provenance.publication.version, 1);
    assert.equal(provenance.publication.server, stage.url); // which has a port that the system chose
    assert.deepEqual((await host.warmUp([key()])).failures, []);
    await host.close();
    for (const more of [{ offline: true }, { fetch: () => Promise.reject(new TypeError('fetch failed')) }]) {
      const restarted = createClient({ ...options, ...more, trustedKeys: keys });
      const loaded = await restarted.loadPlugin(key());
      assert.deepEqual([loaded.provenance?.state, loaded.isStale], ['verified', true]);
      await restarted.close();
      // A host that trusts other keys only doesn't accept what is cached.
      const other = createClient({ ...options, ...more, trustedKeys: [createSigner().publicKey] });
      await assert.rejects(other.loadPlugin(key()), { code: 'provenance_failed', reason: 'unknown_key' });
      await other.close();
    }
  });

  it('is shown by tenon plugin verify, with bundles of a CI job', async () => {
    await stage.publish(guestKey, 'built', two);
    const authority = await openCiAuthority();
    const bundle = await authority.sign(provenanceOf(two.bytes));
    await stage.call('POST', `artifacts/${plugin('built')}/versions/1/attestations`, bundle);
    const bom = { bomFormat: 'CycloneDX', specVersion: '1.6', components: [{ type: 'library', name: 'zlib' }] };
    await stage.call('POST', `artifacts/${plugin('built')}/versions/1/attestations`, bom);
    const root = join(folder, 'root.json');
    await writeFile(root, JSON.stringify(authority.trustedRoot));
    const reference = `${plugin('built')}@1`;
    const found = await run('plugin', 'verify', reference, '--key', 'keys.json', '--trusted-root', root, '--json');
    assert.equal(found.code, 0, found.stdout + found.stderr);
    const { attestations } = JSON.parse(found.stdout);
    assert.deepEqual(
      attestations.map(({ kind, state, signer }: Record<string, Record<string, string>>) => [
        kind,
        state,
        signer?.repository,
      ]),
      [
        ['publish', 'verified', null],
        ['provenance', 'verified', 'https://github.com/acme/median'],
        ['sbom', 'verified', null],
      ],
    );
    const unchecked = await run('plugin', 'verify', reference, '--key', 'keys.json');
    assert.match(unchecked.stdout, /provenance +unchecked/);
    assert.equal(unchecked.code, 0, unchecked.stderr);
    const sbom = await run('plugin', 'sbom', reference);
    assert.deepEqual([JSON.parse(sbom.stdout), sbom.code], [bom, 0]);

    const module = join(folder, 'built.wasm');
    const file = join(folder, 'built.json');
    await writeFile(module, two.bytes);
    await writeFile(file, JSON.stringify(bundle));
    const offline = ['plugin', 'verify', '--file', module, '--bundle', file, '--trusted-root', root];
    assert.equal((await run(...offline)).code, 0);
    await writeFile(
      file,
      JSON.stringify({ ...bundle, dsseEnvelope: { ...bundle.dsseEnvelope, signatures: [{ sig: 'AAAA' }] } }),
    );
    assert.equal((await run(...offline)).code, 12);
    await writeFile(module, one.bytes);
    await writeFile(file, JSON.stringify(bundle));
    assert.equal((await run(...offline)).code, 12);
    const stranger = await openCiAuthority();
    await writeFile(root, JSON.stringify(stranger.trustedRoot));
    await writeFile(module, two.bytes);
    assert.equal((await run(...offline)).code, 12);
  });

  describe('in other engines, as built', () => {
    const task = (): Task => ({
      ...key(),
      baseUrl: stage.url,
      token: stage.token,
      trustedKeys: [...keys],
      otherKeys: [published(createSigner())],
    });
    const expected: Report = {
      state: 'verified',
      refused: 'provenance_failed',
      reason: 'unknown_key',
      warned: 'failed',
    };

    for (const engine of otherEngines()) {
      it(`in ${engine.name}`, async (test) => {
        if (engine.binary === undefined) {
          test.skip(whyNotHere(engine));
          return;
        }
        const more = engine.name === 'Deno' ? ['--allow-net', '--allow-env'] : [];
        const args = [join(folder, 'client', 'index.js'), JSON.stringify(task())];
        const command = { ...engine, args: [...engine.args, ...more] };
        assert.deepEqual(await runInEngine(command, 'client-verify.mjs', args, folder), expected);
      });
    }

    it('in Chromium', async (test) => {
      const { browser, origin, close } = await openEnginePages(join(folder, 'client'), {});
      try {
        if (typeof browser === 'string') {
          test.skip(browser);
          return;
        }
        const page = await browser.newPage();
        await page.goto(`${origin}/engines/page.html`);
        assert.deepEqual(await page.evaluate(runInPage, task()), expected);
      } finally {
        await close();
      }
    });
  });

  it('continues through a rotation with both keys pinned, and keeps the last verified version without the new one', async () => {
    const publishNext = (number: number) => stage.publish(guestKey, 'rotated', numberedModule(number, random));
    const connect = (trustedKeys: readonly SigningKey[]) =>
      createClient({
        baseUrl: stage.url,
        token: stage.token,
        streaming: false,
        maxAgeMs: 0,
        verify: 'require',
        trustedKeys,
      });
    const rotated = { ...key(), name: 'rotated' };
    await publishNext(10);
    const rotation = await run('admin', 'signing-key', 'rotate', '--after', '1ms');
    assert.equal(rotation.code, 0, rotation.stderr);
    const before = connect(keys);
    const first = await before.loadPlugin(rotated);
    assert.equal(first.provenance?.state, 'verified');
    const { stdout } = await run('signing-keys', '--json');
    const both: readonly SigningKey[] = JSON.parse(stdout).keys;
    assert.equal(both.length, keys.length + 1);
    await publishNext(11);
    const after = connect(both);
    const { provenance } = await after.loadPlugin(rotated);
    assert.ok(provenance?.state === 'verified');
    assert.ok(!keys.some(({ keyId }) => keyId === provenance.keyId), 'the new key signs');
    assert.equal((await after.loadPlugin({ ...key(), name: 'first' })).provenance?.state, 'verified');
    const kept = await before.loadPlugin(rotated);
    assert.deepEqual(
      [kept.contentAddress, kept.isStale, kept.error?.reason],
      [first.contentAddress, true, 'unknown_key'],
    );
    for (const client of [before, after]) await client.close();
  });
});

// What the page has and Node.js has not.
declare const location: { readonly href: string };

/** Runs in the page. */
async function runInPage(task: Task): Promise<Report> {
  const { verifyPlugin } = await import(new URL('/engines/client-verify.mjs', location.href).href);
  return verifyPlugin(new URL('/package/index.js', location.href).href, task);
}
