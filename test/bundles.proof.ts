import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ociRepositoryOf } from '@tenon/protocol';
import { createPluginWorld, moduleOf, type PluginWorld } from '../packages/cli/test/helpers/plugin-world.ts';
import { type Catalog, openBundleFile, writeTampered } from '../packages/cli/test/helpers/tampered-bundle.ts';
import { wat } from '../packages/cli/test/helpers/wat.ts';
import { digestOf, imageOf, pushImageTo } from '../packages/server/test/helpers/oci-images.ts';
import { tenon as tenonFile, withoutTenon } from './helpers/server.ts';
import { until } from './helpers/until.ts';

const sbom = { bomFormat: 'CycloneDX', specVersion: '1.6', components: [] };
const skopeo = '/usr/bin/skopeo';

describe('bundles between two servers', () => {
  let origin: PluginWorld;
  let target: PluginWorld;
  let guest: Awaited<ReturnType<PluginWorld['makeGuest']>>;
  let keys: string;
  let bundle: string;

  before(async () => {
    [origin, target] = await Promise.all([createPluginWorld(), createPluginWorld()]);
    guest = await origin.makeGuest();
    const bom = join(origin.folder.path, 'bom.json');
    await writeFile(bom, JSON.stringify(sbom));
    await guest.push(1, '--semver', '1.0.0', '--note', 'First', '--sbom', bom);
    keys = join(origin.folder.path, 'keys.json');
    await writeFile(keys, await origin.line(['signing-keys', '--json']));
    bundle = join(origin.folder.path, 'plugins.tar');
    await exportTo(bundle);
  });
  after(async () => {
    await origin.stop();
    await target.stop();
  });

  const importWords = (file: string) => ['bundle', 'import', file, '--app', target.app, '--key', keys, '--allow', '*'];
  const exportTo = (file: string, from = guest.extensionPoint, world = origin) =>
    world.demand(['bundle', 'export', '-e', from, '-o', file]);
  const importing = (...words: string[]) =>
    target.tenon(['bundle', 'import', bundle, '--app', target.app, '--key', keys, '--allow', '*', '--json', ...words]);
  const list = async (world: PluginWorld, extensionPoint: string, guestKey: string) =>
    (await world.demand(['bindings', '-e', extensionPoint, guestKey, '--json'])).json();
  const readCatalog = async ({ catalog }: { readonly catalog: Catalog }) => catalog;
  const layerDigests = async (file: string) => {
    const { extensionPoints } = (await origin.demand(['bundle', 'show', file, '--json'])).json();
    return extensionPoints[0].plugins[0].versions.map(
      ({ contentAddress }: { contentAddress: string }) => contentAddress,
    );
  };

  it('exports the same bytes of the same state, also to stdout', async () => {
    const again = join(origin.folder.path, 'again.tar');
    await exportTo(again);
    assert.ok((await readFile(again)).equals(await readFile(bundle)));
    const piped = await origin.demand(['bundle', 'export', '-e', guest.extensionPoint]);
    assert.ok(piped.bytes.equals(await readFile(bundle)));
  });

  it('refuses to export for guests, who must not see guest keys', async () => {
    const refused = await origin.tenon(
      ['bundle', 'export', '-e', guest.extensionPoint, '-o', '/dev/null'],
      guest.setting,
    );
    assert.deepEqual([refused.exitCode, /Only the application's team/.test(refused.stderr)], [3, true], refused.stderr);
  });

  it('lists the content without a server', async () => {
    const nowhere = { environment: { TENON_URL: 'http://127.0.0.1:9' } };
    const shown = await origin.demand(['bundle', 'show', bundle, '--key', keys, '--json'], nowhere);
    const [extensionPoint] = shown.json().extensionPoints;
    const [plugin] = extensionPoint.plugins;
    assert.deepEqual(
      [extensionPoint.id, plugin.id, plugin.bindings, plugin.versions[0].state, plugin.versions[0].reference],
      [
        guest.extensionPoint,
        guest.id,
        [{ guestKey: guest.guestName, version: 1 }],
        'verified',
        `${guest.extensionPoint}/${guest.user}/sums:1`,
      ],
    );
    const kinds = plugin.versions[0].attestations.map(({ kind }: { kind: string }) => kind);
    assert.deepEqual(kinds, ['publish', 'sbom']);
    assert.equal(extensionPoint.state, 'verified');
    const unchecked = await origin.demand(['bundle', 'show', bundle]);
    assert.match(unchecked.stdout, /sums@1 .*guest-1 +unchecked/);
    assert.match(unchecked.stderr, /guest-1: bindings and schema unchecked\./);
    const checked = await origin.demand(['bundle', 'show', bundle, '--key', keys]);
    assert.match(
      checked.stderr,
      new RegExp(`guest-1: bindings and schema verified, last changed at ${extensionPoint.changedAt}`),
    );
  });

  it('refuses, before anything is sent, a bundle whose bindings, schema, plugins, or rules are not those that were signed', async () => {
    const signed = await origin.makeGuest();
    await signed.push(7);
    const first = join(origin.folder.path, 'first.tar');
    await exportTo(first, signed.extensionPoint);
    const bom = join(origin.folder.path, 'bom.json');
    await signed.push(8, '--sbom', bom);
    const second = join(origin.folder.path, 'second.tar');
    await exportTo(second, signed.extensionPoint);
    const [older, newer] = await Promise.all([first, second].map((file) => openBundleFile(file, readCatalog)));
    const [elsewhere] = (await openBundleFile(bundle, readCatalog)).extensionPoints;
    type Point = Catalog['extensionPoints'][number];
    const changed = 'the server signed another name, schema, limits, plugins, versions, bindings, or documents';
    const pointOf = (catalog: Catalog | undefined) => catalog?.extensionPoints[0] ?? assert.fail();
    const pluginOf = (point: Point) => point.plugins[0] ?? assert.fail();
    const tampered: readonly (readonly [string, (point: Point) => unknown])[] = [
      ['an older version, with its own signature', (point) => Object.assign(pluginOf(point), pluginOf(pointOf(older)))],
      ['another guest', (point) => Object.assign(pluginOf(point).bindings[0] ?? {}, { guestKey: 'guest-2b' })],
      ['a further guest', (point) => pluginOf(point).bindings.push({ guestKey: 'zzz', version: 2 })],
      ['no plugin', (point) => point.plugins.pop()],
      ['another schema', (point) => Object.assign(point.schema, { exports: {} })],
      ['no approval', (point) => Object.assign(point, { requiresApproval: !point.requiresApproval })],
      ['another name', (point) => Object.assign(point, { name: 'guest-1' })],
      ['another note', (point) => Object.assign(pluginOf(point).versions[0] ?? {}, { note: 'Approved' })],
      ['no SBOM', (point) => pluginOf(point).versions[0]?.attestations.pop()],
      ['an older attestation', (point) => Object.assign(point, { attestation: pointOf(older).attestation })],
    ];
    const file = join(origin.folder.path, 'tampered.tar');
    const before = await target.line(['ext', 'list', '--json']);
    const refuses = async (catalog: Catalog, why: string, what: string) => {
      await writeTampered(file, catalog, [second, first, bundle]);
      const pinned = [file, '--key', keys];
      const shown = await origin.tenon(['bundle', 'show', ...pinned]);
      const refused = await target.tenon(['bundle', 'import', ...pinned, '--app', target.app, '--allow', '*']);
      for (const { exitCode, stderr } of [shown, refused]) {
        assert.equal(exitCode, 12, `${what}: ${stderr}`);
        assert.ok(stderr.includes(`attestation failed: ${why}. Nothing was imported.`), `${what}: ${stderr}`);
      }
    };
    for (const [what, change] of tampered) {
      const catalog: Catalog = structuredClone(newer) ?? assert.fail();
      change(pointOf(catalog));
      await refuses(catalog, changed, what);
    }
    const swapped: Catalog = structuredClone(newer) ?? assert.fail();
    Object.assign(pointOf(swapped), { attestation: elsewhere?.attestation });
    await refuses(swapped, `it is about ${elsewhere?.id}`, 'the attestation of another extension point');
    assert.equal(await target.line(['ext', 'list', '--json']), before);
    await writeTampered(file, newer ?? assert.fail(), [second]);
    assert.ok((await readFile(file)).equals(await readFile(second)));
  });

  it('exports what the server attests while bindings move', async () => {
    const moving = await origin.makeGuest();
    await moving.push(1);
    await moving.push(2);
    let isDone = false;
    const moves = (async () => {
      for (let version = 1; !isDone; version = 3 - version) {
        await origin.demand(['plugin', 'rollback', `${moving.id}@${version}`]);
      }
    })();
    const outcomes: number[] = [];
    try {
      for (let count = 0; count < 5; count++) {
        const file = join(origin.folder.path, 'moving.tar');
        const { exitCode, stderr } = await origin.tenon(['bundle', 'export', '-e', moving.extensionPoint, '-o', file]);
        outcomes.push(exitCode);
        if (exitCode === 0) await origin.demand(['bundle', 'show', file, '--key', keys]);
        else assert.match(stderr, /changed each of the 5 times/);
      }
    } finally {
      isDone = true;
      await moves;
    }
    assert.ok(
      outcomes.every((code) => code === 0 || code === 5),
      outcomes.join(),
    );
  });

  it('refuses a plugin outside of the allow-list, and an unknown key, before anything is sent', async () => {
    const before = await target.line(['ext', 'list', '--json']);
    const common = ['bundle', 'import', bundle, '--app', target.app, '--key'];
    const outside = await target.tenon([...common, keys, '--allow', `${guest.extensionPoint}/plugin/usr_*/greet`]);
    assert.equal(outside.exitCode, 7);
    assert.match(outside.stderr, new RegExp(`no --allow matches ${guest.id}\\. Nothing was imported`));
    const own = join(target.folder.path, 'own.json');
    await writeFile(own, await target.line(['signing-keys', '--json']));
    const unknown = await target.tenon([...common, own, '--allow', '*']);
    assert.equal(unknown.exitCode, 12);
    assert.match(unknown.stderr, /ext_\w+: its attestation failed: .*not trusted.*Nothing was imported/s);
    const foreignId = JSON.parse(await readFile(keys, 'utf8'));
    for (const key of foreignId.keys) key.keyId = '0'.repeat(64);
    await writeFile(own, JSON.stringify(foreignId));
    const damaged = await target.tenon([...common, own, '--allow', '*']);
    assert.equal(damaged.exitCode, 7);
    assert.match(damaged.stderr, /contains no signing keys: `keys\[0\]\.keyId` is not the SHA-256/);
    const ended = JSON.parse(await readFile(keys, 'utf8'));
    for (const key of ended.keys) key.validUntil = '2020-01-01T00:00:00.000Z';
    await writeFile(own, JSON.stringify(ended));
    const late = await target.tenon([...common, own, '--allow', '*']);
    assert.equal(late.exitCode, 12);
    assert.match(late.stderr, /its key was not valid at .*Nothing was imported/);
    assert.equal(await target.line(['ext', 'list', '--json']), before);
  });

  it('shows what an import would change', async () => {
    const before = await target.line(['ext', 'list', '--json']);
    const { versions, newGuestKeys } = (await importing('--dry-run')).json();
    assert.deepEqual([versions[0].outcome, newGuestKeys], ['planned', [guest.guestName]]);
    assert.equal(await target.line(['ext', 'list', '--json']), before);
  });

  it('imports, and changes nothing the second time', async () => {
    const first = await importing();
    assert.equal(first.exitCode, 0, first.stderr);
    const report = first.json();
    assert.deepEqual(
      report.versions.map(({ outcome, version }: { outcome: string; version: unknown }) => [outcome, version]),
      [['published', { number: 1, state: 'published' }]],
    );
    const [{ id }] = report.extensionPoints;
    const expected = await list(origin, guest.extensionPoint, guest.guestName);
    const bound = await list(target, id, guest.guestName);
    assert.equal(bound.sums.contentAddress, expected.sums.contentAddress);
    const fetched = await target.demand(['fetch', bound.sums.contentAddress, '-o', '-']);
    assert.ok(fetched.bytes.equals(moduleOf(1)));

    const second = (await importing()).json();
    assert.deepEqual(
      [second.versions[0].outcome, second.newGuestKeys, second.extensionPoints[0].isNew],
      ['present', [], false],
    );
    assert.deepEqual(await list(target, id, guest.guestName), bound);

    const user = target.server.quickstart.TENON_USER_ID;
    const versions = (await target.demand(['plugin', 'versions', `${id}/plugin/${user}/sums`, '--json'])).json();
    assert.deepEqual([versions.length, versions[0].semver, versions[0].note], [1, '1.0.0', 'First']);

    const ownKeys = join(target.folder.path, 'all.json');
    await writeFile(ownKeys, await target.line(['signing-keys', '--json']));
    const verify = async (...pinned: string[]) => {
      const words = pinned.flatMap((file) => ['--key', file]);
      return (await target.demand(['plugin', 'verify', `${id}/plugin/${user}/sums@1`, ...words, '--json'])).json();
    };
    const states = ({ attestations }: { attestations: { kind: string; state: string }[] }) =>
      Object.fromEntries(attestations.map(({ kind, state }) => [kind, state]));
    assert.deepEqual(states(await verify(ownKeys, keys)), {
      publish: 'verified',
      sbom: 'verified',
      origin: 'verified',
    });
    assert.deepEqual(states(await verify(ownKeys)), { publish: 'verified', sbom: 'verified', origin: 'unchecked' });

    const exported = join(target.folder.path, 'exported.tar');
    await exportTo(exported, id, target);
    assert.deepEqual(await layerDigests(exported), await layerDigests(bundle));
    assert.deepEqual(await manifestsOf(exported), await manifestsOf(bundle));
  });

  /** The manifests of the plugins, which have names. */
  /** Pushes plugins with different modules. */
  async function pushMany(
    { path, setting }: typeof guest,
    name: string,
    count: number,
    firstModule: number,
  ): Promise<void> {
    const file = join(path, 'one.wasm');
    for (let number = 0; number < count; number++) {
      await writeFile(file, moduleOf(firstModule + number));
      await origin.demand(['plugin', 'push', file, '--name', `${name}-${number}`], setting);
    }
  }

  async function manifestsOf(file: string): Promise<readonly string[]> {
    const { stdout } = await promisify(execFile)('tar', ['-xOf', file, 'index.json']);
    const { manifests } = JSON.parse(stdout);
    return manifests.flatMap(({ digest, annotations }: { digest: string; annotations?: object }) =>
      annotations === undefined ? [] : [digest],
    );
  }

  it('carries the image that an OCI client pushed, with its digest', async () => {
    const { extensionPoint, user, setting } = await origin.makeGuest();
    const image = imageOf(moduleOf(41));
    const digest = digestOf(image.manifest);
    const { TENON_URL: url, TENON_TOKEN: token } = setting.environment;
    await pushImageTo(url, token, ociRepositoryOf(origin.app, extensionPoint, user, 'pushed'), '1.0.0', image);
    const [file, again] = [join(origin.folder.path, 'pushed.tar'), join(target.folder.path, 'pushed.tar')];
    await exportTo(file, extensionPoint);
    const pinned = ['--key', keys, '--app', target.app, '--allow', '*', '--json'];

    const forged = await openBundleFile(file, readCatalog);
    delete forged.extensionPoints[0]?.plugins[0]?.versions[0]?.image;
    const tampered = join(origin.folder.path, 'tampered.tar');
    await writeTampered(tampered, forged, [file]);
    assert.equal((await target.tenon(['bundle', 'import', tampered, ...pinned])).exitCode, 12);

    const [{ id }] = (await target.demand(['bundle', 'import', file, ...pinned])).json().extensionPoints;
    const { TENON_URL: targetUrl, TENON_TOKEN: targetToken, TENON_USER_ID: importer } = target.server.quickstart;
    const repository = ociRepositoryOf(target.app, id, importer ?? '', 'pushed');
    for (const reference of ['1.0.0', digest]) {
      const headers = { authorization: `Bearer ${targetToken}` };
      const response = await fetch(`${targetUrl}/v2/${repository}/manifests/${reference}`, { headers });
      assert.equal(await response.text(), image.manifest);
    }
    await exportTo(again, id, target);
    for (const bundle of [file, again]) {
      const { stdout } = await promisify(execFile)('tar', ['-xOf', bundle, 'index.json']);
      assert.ok(stdout.includes(digest), stdout);
    }
  });

  it('imports only what the extension point accepts', async () => {
    const strict = await origin.makeGuest();
    await strict.push(5);
    const file = join(origin.folder.path, 'strict.tar');
    await exportTo(file, strict.extensionPoint);
    const schema = { stdin: 'exports: [render]' };
    await target.demand(['ext', 'create', strict.guestName, '--app', target.app, '--schema', '-'], schema);
    const refused = await target.tenon(['bundle', 'import', file, '--app', target.app, '--key', keys, '--allow', '*']);
    assert.equal(refused.exitCode, 7, refused.stderr);
    assert.match(refused.stderr, /render/);
  });

  it('publishes nothing if the server refuses one of the versions, and names all that it refuses', async () => {
    const mixed = await origin.makeGuest('exports: []');
    const push = async (name: string, module: Buffer) => {
      const file = join(mixed.path, `${name}.wasm`);
      await writeFile(file, module);
      await origin.demand(['plugin', 'push', file, '--name', name], mixed.setting);
    };
    const unfit = wat('(module (func (export "walk")))');
    await push('a-fits', moduleOf(200));
    await push('b-unfit', unfit);
    await push('c-unfit', unfit);
    const file = join(origin.folder.path, 'mixed.tar');
    await exportTo(file, mixed.extensionPoint);
    const at = await target.line(['ext', 'create', mixed.guestName, '--app', target.app, '--schema', '-'], {
      stdin: 'exports: [run]',
    });
    const words = importWords(file);
    for (const more of [['--dry-run'], []]) {
      const refused = await target.tenon([...words, ...more]);
      if (more.length > 0 && refused.exitCode === 0) continue; // the guest is not there yet
      assert.equal(refused.exitCode, 7, refused.stderr);
      assert.match(refused.stderr, /The server refuses 2 versions\. Nothing was published\./);
      for (const name of ['b-unfit', 'c-unfit']) assert.match(refused.stderr, new RegExp(`/${name}@1: .*run`));
    }
    assert.deepEqual(await list(target, at, mixed.guestName), {});
    const asked = await target.tenon([...words, '--dry-run']);
    assert.match(asked.stderr, /The server refuses 2 versions/);
    await target.demand(['ext', 'update', '-e', at, '--schema', '-'], { stdin: 'exports: []' });
    await target.demand(words);
    assert.equal(Object.keys(await list(target, at, mixed.guestName)).length, 3);
  });

  it('refuses a state that is older than one that was imported, also after a deletion', async () => {
    const dated = await origin.makeGuest();
    const files = ['dated-1.tar', 'dated-2.tar', 'dated-3.tar'].map((name) => join(origin.folder.path, name));
    const [first = '', second = '', third = ''] = files;
    await dated.push(400);
    await exportTo(first, dated.extensionPoint);
    await dated.push(401);
    await exportTo(second, dated.extensionPoint);
    const importing = (file: string, ...more: string[]) =>
      target.tenon(['bundle', 'import', file, '--app', target.app, '--key', keys, '--allow', '*', '--json', ...more]);
    const demand = async (file: string, ...more: string[]) => {
      const { exitCode, stderr, json } = await importing(file, ...more);
      assert.equal(exitCode, 0, stderr);
      return json();
    };
    const [{ id }] = (await demand(second)).extensionPoints;
    const bound = await list(target, id, dated.guestName);
    const refuses = async (file: string) => {
      for (const more of [[], ['--dry-run']]) {
        const { exitCode, stderr } = await importing(file, ...more);
        assert.equal(exitCode, 7, stderr);
        assert.match(stderr, /older_bundle.*Nothing was imported.*--allow-older/);
      }
    };
    await refuses(first);
    assert.deepEqual(await list(target, id, dated.guestName), bound);
    assert.equal((await demand(second)).versions[0].outcome, 'present');
    await origin.demand(['plugin', 'delete', dated.id, '--yes']);
    await exportTo(third, dated.extensionPoint);
    assert.deepEqual((await demand(third)).versions, []);
    await refuses(second);
    assert.equal((await demand(first, '--allow-older')).versions[0].outcome, 'published');
    await refuses(second);
  });

  it('leaves one extension point if two imports create it at once', async () => {
    const both = await origin.makeGuest();
    await both.push(500);
    const file = join(origin.folder.path, 'both.tar');
    await exportTo(file, both.extensionPoint);
    const words = importWords(file);
    const outcomes = await Promise.all([target.tenon(words), target.tenon(words)]);
    for (const { exitCode, stderr } of outcomes) {
      if (exitCode === 0) continue;
      assert.equal(exitCode, 5, stderr);
      assert.match(stderr, /by another import at the same time\.\nNothing was published/);
    }
    await target.demand(words);
    const points: { id: string; name: string }[] = (
      await target.demand(['ext', 'list', '--app', target.app, '--json'])
    ).json();
    const [one, ...others] = points.filter(({ name }) => name === both.guestName);
    assert.deepEqual(others, []);
    assert.equal(Object.keys(await list(target, one?.id ?? '', both.guestName)).length, 1);
  });

  it('says what stands if the connection ends midway, and continues', async () => {
    const cut = await origin.makeGuest();
    await pushMany(cut, 'cut', 3, 300);
    const file = join(origin.folder.path, 'cut.tar');
    await exportTo(file, cut.extensionPoint);
    const words = importWords(file);
    let publishes = 0;
    const failing: typeof fetch = async (input, init) => {
      const isPublish = init?.method === 'PUT' && /artifacts(?!.*dryRun)/.test(String(input));
      if (isPublish && ++publishes === 2) throw new TypeError('fetch failed');
      return fetch(input, init);
    };
    const broken = await target.tenon([...words, '--json'], { fetch: failing });
    assert.equal(broken.exitCode, 6, broken.stderr);
    assert.match(broken.stderr, /The import is incomplete: .* 1 of 3 bindings are there\./);
    const outcomes = ({ versions }: { versions: { outcome: string }[] }) => versions.map(({ outcome }) => outcome);
    assert.deepEqual(outcomes(broken.json()), ['published', 'planned', 'planned']);
    const second = await target.demand([...words, '--json']);
    assert.deepEqual(outcomes(second.json()), ['present', 'published', 'published']);
  });

  it('is read by skopeo with equal digests', { skip: existsSync(skopeo) ? false : 'there is no skopeo' }, async () => {
    const reference = `${guest.extensionPoint}/${guest.user}/sums:1`;
    const run = async (...args: string[]) => (await promisify(execFile)(skopeo, args)).stdout;
    const raw = await run('inspect', '--raw', `oci-archive:${bundle}:${reference}`);
    const [manifest] = await manifestsOf(bundle);
    assert.equal(`sha256:${hash('sha256', raw, 'hex')}`, manifest);
    const folder = join(origin.folder.path, 'oci');
    await run('--insecure-policy', 'copy', `oci-archive:${bundle}:${reference}`, `oci:${folder}:sums`);
    const { digest } = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')).manifests[0];
    assert.equal(digest, manifest);
    const layer = JSON.parse(raw).layers[0].digest.replace('sha256:', '');
    assert.ok((await readFile(join(folder, 'blobs/sha256', layer))).equals(moduleOf(1)));
  });

  it('completes an import that was killed', async () => {
    const many = await origin.makeGuest();
    await pushMany(many, 'many', 12, 100);
    const file = join(origin.folder.path, 'many.tar');
    await exportTo(file, many.extensionPoint);
    const words = importWords(file);
    const env = { ...withoutTenon(process.env), TENON_DATA_DIR: target.server.dataDir };
    const plugins = async () => {
      const points = (await target.demand(['ext', 'list', '--app', target.app, '--json'])).json();
      const id = points.find(({ name }: { name: string }) => name === many.guestName)?.id;
      return id === undefined ? {} : await list(target, id, many.guestName);
    };
    const child = spawn(process.execPath, [tenonFile, ...words], { env, stdio: 'ignore' });
    const exited = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
    await until(async () => (Object.keys(await plugins()).length > 0 ? true : undefined));
    child.kill('SIGKILL');
    assert.equal(await exited, 'SIGKILL');
    const partly = await plugins();
    assert.ok(Object.keys(partly).length < 12, 'it was killed too late');
    const { versions } = (await target.demand([...words, '--json'])).json();
    const present = versions.filter(({ outcome }: { outcome: string }) => outcome === 'present').length;
    assert.ok(present >= Object.keys(partly).length, `${present}`);
    const addresses = (of: Record<string, { contentAddress: string }>) =>
      Object.entries(of).map(([name, { contentAddress }]) => [name, contentAddress]);
    assert.deepEqual(addresses(await plugins()), addresses(await list(origin, many.extensionPoint, many.guestName)));
  });
});
