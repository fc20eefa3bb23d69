import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeFolder } from './helpers/folder.ts';
import { createPluginWorld, moduleOf, type PluginWorld } from './helpers/plugin-world.ts';

const sbom = { bomFormat: 'CycloneDX', specVersion: '1.6', components: [] };

describe('provenance in the command line', () => {
  let world: PluginWorld;
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  let file: string;
  before(async () => {
    world = await createPluginWorld();
    folder = await makeFolder();
    file = join(folder.path, 'bom.json');
    await writeFile(file, JSON.stringify(sbom));
  });
  after(async () => {
    await world.stop();
    await folder.remove();
  });

  it('attaches an SBOM with a push, and later', async () => {
    const guest = await world.makeGuest();
    await guest.push(1, '--sbom', file);
    const attached = (await guest.plugin('attach', '@1', '--file', file, '--json')).json();
    assert.deepEqual([attached.kind, attached.state, 'bundle' in attached], ['sbom', 'verified', false]);
    await writeFile(file, '{}');
    const refused = await world.tenon(['plugin', 'attach', '@1', '--file', file], guest.setting);
    assert.equal(refused.exitCode, 7, refused.stderr);
    assert.match(refused.stderr, /Sigstore bundle/);
    await writeFile(file, JSON.stringify(sbom));
  });

  it('sets the policy of an extension point, and is refused by it', async () => {
    const guest = await world.makeGuest();
    const update = (...words: string[]) =>
      world.tenon(['extension-point', 'update', '-e', guest.extensionPoint, ...words, '--json']);
    assert.equal((await update('--provenance-source', 'branch=main')).exitCode, 2);
    const source = 'issuer=https://ci.example.com,repository=acme/*';
    const updated = await update('--provenance', 'require', '--provenance-source', source);
    assert.equal(updated.exitCode, 0, updated.stderr);
    assert.deepEqual(updated.json().provenance, {
      mode: 'require',
      sources: [{ issuer: 'https://ci.example.com', repository: 'acme/*' }],
    });
    const shown = await world.tenon(['extension-point', 'show', '-e', guest.extensionPoint]);
    assert.match(shown.stdout, /provenance +required issuer=https:\/\/ci\.example\.com,repository=acme\/\*/);
    await guest.write(moduleOf(7));
    const refused = await world.tenon(['plugin', 'push'], guest.setting);
    assert.match(refused.stderr, /requires provenance, and no provenance is attached/);
    assert.notEqual(refused.exitCode, 0);
  });

  it('lists, rotates and revokes signing keys', async () => {
    const store = ['--store', join(folder.path, 'data')];
    const admin = (...words: string[]) => world.tenon(['admin', ...words, ...store]);
    await admin('user', 'create', 'Ada'); // which creates the store
    assert.match((await admin('signing-key', 'list')).stderr, /has no key yet/);
    const rotated = await admin('signing-key', 'rotate', '--after', '0', '--json');
    const { keyId } = rotated.json();
    const { stdout } = await admin('signing-key', 'list');
    assert.match(stdout, new RegExp(`${keyId} +store +active`));
    assert.match(stdout, /retired/);
    assert.doesNotMatch(stdout, /PRIVATE/);
    assert.equal((await admin('signing-key', 'revoke', keyId)).exitCode, 2);
    assert.equal((await admin('signing-key', 'revoke', keyId.slice(0, 12), '--yes')).exitCode, 0);
    const keys = (await admin('signing-key', 'list', '--json')).json();
    assert.equal(keys.filter(({ revokedAt }: { revokedAt: string | null }) => revokedAt === null).length, 2);
    assert.equal((await admin('signing-key', 'revoke', 'zz', '--yes')).exitCode, 2);
  });
});
