import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createPluginWorld, moduleOf, type PluginWorld } from '../packages/cli/test/helpers/plugin-world.ts';
import type { Setting } from '../packages/cli/test/helpers/streams.ts';
import { attest, createSigner, published } from '../packages/client/test/helpers/attestations.ts';
import { addressOf } from '../packages/client/test/helpers/numbered-module.ts';

const signer = createSigner();
const stranger = createSigner();
const bytes = Uint8Array.from(moduleOf(1));
const contentAddress = addressOf(bytes);
const sbomType = 'https://cyclonedx.org/bom';
const slsaType = 'https://slsa.dev/provenance/v1';

let world: PluginWorld;
let guest: Awaited<ReturnType<PluginWorld['makeGuest']>>;

before(async () => {
  world = await createPluginWorld();
  guest = await world.makeGuest();
  await guest.push(1);
});
after(() => world.stop());

const plugin = () => ({ id: guest.id, extensionPointId: guest.extensionPoint, contentAddress });

/** A publish attestation of version 1. */
function attestFirst(by = signer, deviation: Parameters<typeof attest>[2] = {}) {
  const subject = { name: `${guest.id}@1` };
  return attest(by, plugin(), { ...deviation, subject, predicate: { version: 1, ...deviation.predicate } });
}

const objectOf = (kind: string, bundle: unknown, state = 'verified') => ({
  id: 'atn_01j29hxk3mfpq8ad68ha6hbsex',
  kind,
  predicateType: kind === 'publish' ? 'urn:tenon:attestation:publish:v1' : kind === 'sbom' ? sbomType : slsaType,
  version: 1,
  state,
  detail: null,
  signer: null,
  createdAt: '2026-05-01T00:00:00.000Z',
  bundle,
});

/** The real server, with these attestations, keys, and bytes in place of its own. */
function serving({
  objects = [] as unknown[],
  keys = [published(signer)] as unknown[],
  content = undefined as Uint8Array | undefined,
}): Setting {
  const swapped: typeof fetch = async (input, init) => {
    const { pathname } = new URL(String(input));
    if (pathname === '/.well-known/tenon-signing-keys.json') return Response.json({ keys });
    if (pathname.endsWith('/attestations')) return Response.json({ objects });
    if (content !== undefined && pathname.startsWith('/api/v1/c/')) return new Response(new Uint8Array(content));
    return fetch(input, init);
  };
  return { ...guest.setting, fetch: swapped };
}

/** What the server signed for another purpose, as provenance or an SBOM. */
function relabelled(): [exitCode: number, detail: RegExp, objects: unknown[]][] {
  const own = attestFirst();
  const signedSbom = attest(signer, plugin(), { statement: { predicateType: sbomType } });
  const signedProvenance = attest(signer, plugin(), { statement: { predicateType: slsaType } });
  const ambiguous = { ...signedSbom, messageSignature: { signature: 'AAAA' } };
  return [
    [
      12,
      /provenance +failed .*no provenance, but https:\/\/cyclonedx/,
      [objectOf('publish', own), objectOf('provenance', signedSbom)],
    ],
    [12, /provenance +failed .*no provenance, but urn:tenon/, [objectOf('publish', own), objectOf('provenance', own)]],
    [12, /sbom +failed .*no SBOM, but urn:tenon/, [objectOf('publish', own), objectOf('sbom', own)]],
    [
      12,
      /provenance +failed .*signed with a key/,
      [objectOf('publish', own), objectOf('provenance', signedProvenance)],
    ],
    [12, /sbom +failed .*no in-toto statement/, [objectOf('publish', own), objectOf('sbom', ambiguous)]],
    [0, /sbom +verified/, [objectOf('publish', own), objectOf('sbom', signedSbom)]],
  ];
}

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(world.folder.path, name);
  await mkdir(world.folder.path, { recursive: true });
  await writeFile(path, content);
  return path;
}

describe('tenon plugin verify', () => {
  it('verifies what the server signed', async () => {
    const keys = await file('own.json', (await world.demand(['signing-keys', '--json'], guest.setting)).stdout);
    const { json } = await world.demand(['plugin', 'verify', 'sums@1', '--key', keys, '--json'], guest.setting);
    assert.deepEqual([json().state, json().version, json().attestations.length], ['verified', 1, 1]);
    const other = await file('other.pem', stranger.publicKey);
    const refused = await world.tenon(['plugin', 'verify', 'sums', '--key', other], guest.setting);
    assert.deepEqual([refused.exitCode, /publish +failed .*not trusted/.test(refused.stdout)], [12, true]);
  });

  it('verifies a version with pinned keys', async () => {
    const pem = await file('key.pem', signer.publicKey);
    const claims = {
      issuer: 'https://ci.example',
      repository: 'acme/sums',
      workflowRef: 'acme/sums/.ci/push.yml@main',
    };
    const bundle = attestFirst(signer, { predicate: { claims, means: 'trusted_publishing' } });
    const setting = serving({ objects: [objectOf('publish', bundle)], keys: [] });
    const text = await world.tenon(['plugin', 'verify', 'sums@1', '--key', pem], setting);
    assert.equal(text.exitCode, 0, text.stderr);
    assert.match(text.stdout, /state +verified/);
    assert.match(
      text.stdout,
      /publish +verified +[0-9a-f]{16} +acme\/sums +acme\/sums\/\.ci\/push\.yml@main +published by usr_/,
    );
    assert.equal(text.stderr, '');
    const { json } = await world.demand(['plugin', 'verify', '--json', '--key', pem], setting);
    const { attestations, ...rest } = json();
    assert.deepEqual(rest, { plugin: guest.id, version: 1, contentAddress, state: 'verified', isPinned: true });
    assert.equal(attestations[0].signer.keyId, signer.keyId);
  });

  it("says that the server's own keys trust the server", async () => {
    const found = await world.demand(
      ['plugin', 'verify', 'sums'],
      serving({ objects: [objectOf('publish', attestFirst())] }),
    );
    assert.match(
      found.stderr,
      /^warning: The signing keys come from the server, which this trusts\. To pin them: --key\n$/,
    );
  });

  it('keeps failed and absent apart, whatever the server says of the state', async () => {
    const keys = await file('keys.json', JSON.stringify({ keys: [published(signer)] }));
    const other = attest(signer, { ...plugin(), contentAddress: addressOf(Uint8Array.of(1)) });
    const cases: [exitCode: number, detail: RegExp, objects: unknown[]][] = [
      [13, /publish +absent/, []],
      [12, /publish +failed .*not trusted/, [objectOf('publish', attestFirst(stranger))]],
      [12, /publish +failed .*other bytes/, [objectOf('publish', other)]],
      [12, /publish +failed .*about version 3/, [objectOf('publish', attest(signer, plugin()))]],
      [12, /publish +failed .*The bundle must have/, [objectOf('publish', {})]],
      [12, /provenance +failed/, [objectOf('publish', attestFirst()), objectOf('provenance', {})]],
      [
        12,
        /publish +failed/,
        [objectOf('publish', attestFirst(), 'failed'), objectOf('publish', attestFirst(stranger))],
      ],
      [0, /publish +verified/, [objectOf('publish', attestFirst(), 'failed')]],
      ...relabelled(),
    ];
    for (const [exitCode, detail, objects] of cases) {
      const found = await world.tenon(['plugin', 'verify', 'sums@1', '--key', keys], serving({ objects }));
      assert.equal(found.exitCode, exitCode, found.stdout + found.stderr);
      assert.match(found.stdout, detail);
    }
  });

  it('refuses bytes that are not those of the version', async () => {
    const content = bytes.slice();
    content[content.length - 2] = (content.at(-2) ?? 0) ^ 1;
    const found = await world.tenon(
      ['plugin', 'verify', 'sums@1'],
      serving({ objects: [objectOf('publish', attestFirst())], content }),
    );
    assert.deepEqual([found.exitCode, found.stdout], [1, '']);
    assert.match(found.stderr, /The downloaded bytes don't match/);
  });

  it("leaves publishers' attestations unchecked without a trusted root", async () => {
    const provenance = {
      ...attest(stranger, plugin(), { statement: { predicateType: slsaType } }),
      verificationMaterial: { certificate: { rawBytes: 'AAAA' } },
    };
    const objects = [objectOf('publish', attestFirst()), objectOf('provenance', provenance)];
    const key = await file('key.pem', signer.publicKey);
    const found = await world.demand(['plugin', 'verify', 'sums@1', '--key', key], serving({ objects }));
    assert.match(found.stdout, /provenance +unchecked .*its certificate needs --trusted-root/);
    const root = await file(
      'root.json',
      JSON.stringify({ mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1' }),
    );
    const refused = await world.tenon(
      ['plugin', 'verify', 'sums@1', '--key', key, '--trusted-root', root],
      serving({ objects }),
    );
    assert.equal(refused.exitCode, 12, refused.stderr);
    const bad = await world.tenon(['plugin', 'verify', 'sums@1', '--trusted-root', key], serving({ objects }));
    assert.match(bad.stderr, /The trusted root is invalid/);
  });

  it('names what is wrong on the command line', async () => {
    const none = await world.tenon(['plugin', 'verify', 'sums@9'], serving({}));
    assert.deepEqual([none.exitCode, /sums has no version 9/.test(none.stderr)], [4, true]);
    const text = await file('not-a-key.pem', 'hello');
    const bad = await world.tenon(['plugin', 'verify', 'sums', '--key', text], serving({}));
    assert.match(bad.stderr, /not-a-key\.pem contains no signing keys: .*Ed25519 public key in PEM/);
    const bundle = await world.tenon(['plugin', 'verify', '--bundle', text], serving({}));
    assert.match(bundle.stderr, /--bundle needs --file/);
  });

  describe('--file', () => {
    const offline = (...args: string[]) =>
      world.tenon(['plugin', 'verify', ...args], { fetch: () => assert.fail('asked') });

    it('verifies without a server', async () => {
      const module = await file('sums.wasm', bytes);
      const bundle = await file('sums.json', JSON.stringify(attestFirst()));
      const list = await file('list.json', JSON.stringify({ objects: [objectOf('publish', attestFirst())] }));
      const both = await file('both.pem', stranger.publicKey + signer.publicKey);
      for (const each of [bundle, list]) {
        for (const named of [[], [guest.id], [`${guest.id}@1`]]) {
          const found = await offline(...named, '--file', module, '--bundle', each, '--key', both);
          assert.equal(found.exitCode, 0, found.stderr);
          assert.ok(found.stdout.includes(guest.id));
        }
      }
    });

    it('refuses another module, plugin, version, or key', async () => {
      const module = await file('sums.wasm', bytes);
      const changed = await file('changed.wasm', Uint8Array.from(moduleOf(2)));
      const bundle = await file('sums.json', JSON.stringify(attestFirst()));
      const key = await file('key.pem', signer.publicKey);
      const wrong = await file('wrong.pem', stranger.publicKey);
      for (const args of [
        ['--file', changed, '--bundle', bundle, '--key', key],
        ['--file', module, '--bundle', bundle, '--key', wrong],
        [`${guest.extensionPoint}/plugin/${guest.user}/other`, '--file', module, '--bundle', bundle, '--key', key],
        [`${guest.id}@2`, '--file', module, '--bundle', bundle, '--key', key],
      ]) {
        const found = await offline(...args);
        assert.equal(found.exitCode, 12, found.stdout + found.stderr);
      }
      for (const [args, why] of [
        [['--file', module, '--bundle', bundle], /A publish attestation needs --key/],
        [['--file', module, '--key', key], /--file needs --bundle/],
        [['sums', '--file', module, '--bundle', bundle, '--key', key], /is not a plugin's id/],
        [['--file', module, '--bundle', module, '--key', key], /is not JSON/],
      ] as const) {
        const found = await offline(...args);
        assert.match(found.stderr, why);
        assert.equal(found.stdout, '');
      }
    });
  });
});

describe('tenon signing-keys', () => {
  it('lists the keys, and writes what clients pin', async () => {
    const keys = [published(signer, { validUntil: '2026-09-01T00:00:00.000Z' }), published(stranger)];
    const text = await world.demand(['signing-keys'], serving({ keys }));
    assert.match(
      text.stdout,
      new RegExp(`${signer.keyId} +ed25519 +2026-01-01 00:00Z +2026-09-01 00:00Z\n${stranger.keyId}`),
    );
    const { json } = await world.demand(['signing-keys', '--json'], serving({ keys }));
    assert.deepEqual(json(), { keys });
  });
});

describe('tenon plugin sbom', () => {
  const predicate = { bomFormat: 'CycloneDX', specVersion: '1.6', components: [{ type: 'library', name: 'left-pad' }] };

  it('writes the attached document', async () => {
    const bundle = attest(stranger, plugin(), { statement: { predicateType: sbomType, predicate } });
    const found = await world.demand(['plugin', 'sbom', 'sums@1'], serving({ objects: [objectOf('sbom', bundle)] }));
    assert.deepEqual(JSON.parse(found.stdout), predicate);
    assert.match(found.stderr, /^Attached by the publisher\. The server verified its signature\.\n$/);
    const failed = await world.demand(['plugin', 'sbom'], serving({ objects: [objectOf('sbom', bundle, 'failed')] }));
    assert.match(failed.stderr, /warning: The signature of the attached bill of materials failed/);
  });

  it('reads the producers section, and claims no more', async () => {
    const text = (value: string) => [value.length, ...Buffer.from(value)];
    const fields = [
      3,
      ...text('language'),
      1,
      ...text('Rust'),
      ...text('2024'),
      ...text('processed-by'),
      2,
      ...text('rustc'),
      ...text('1.90.0'),
      ...text('lld'),
      0,
      ...text('sdk'),
      0,
    ];
    const section = [...text('producers'), ...fields];
    const module = await file(
      'made.wasm',
      Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0, section.length, ...section),
    );
    const found = await world.demand(['plugin', 'sbom', '--file', module], { fetch: () => assert.fail('asked') });
    assert.match(found.stderr, /no libraries/);
    const bom = JSON.parse(found.stdout);
    assert.deepEqual([bom.bomFormat, bom.specVersion, bom.components], ['CycloneDX', '1.6', undefined]);
    assert.deepEqual(bom.metadata.properties, [{ name: 'tenon:source', value: 'producers' }]);
    assert.equal(bom.compositions[0].aggregate, 'unknown');
    assert.deepEqual(
      bom.formulation[0].components.map(({ name, version, type }: Record<string, string>) => [name, version, type]),
      [
        ['Rust', '2024', 'platform'],
        ['rustc', '1.90.0', 'application'],
        ['lld', undefined, 'application'],
      ],
    );
    const none = await world.tenon(['plugin', 'sbom', 'sums@1'], serving({}));
    assert.deepEqual([none.exitCode, none.stdout], [4, '']);
    const broken = await file(
      'broken.wasm',
      Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0, 11, ...text('producers'), 9),
    );
    assert.equal((await world.tenon(['plugin', 'sbom', '--file', broken])).exitCode, 7);
  });
});
