import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readTrustedKeys, type SigningKey } from '@tenon/client/provenance';
import { createSigner, type Signer, signed } from '../../test/helpers/signed-statement.ts';
import type { CatalogExtensionPoint } from './catalog.ts';
import { judgeExtensionPoint, stateDigest } from './extension-point-attestation.ts';

const signer = createSigner();
const id = 'ext_01j29hxk3mfpq8ad68ha6hbsex';
const user = 'usr_01j29hxk3mfpq8ad68ha6hbsex';
const changedAt = '2026-05-01T00:00:00.000Z';

function pluginOf(name: string): CatalogExtensionPoint['plugins'][number] {
  const document = { digest: '1'.repeat(64), size: 9 };
  const versions = [1, 2].map((number) => ({
    ...{ number, semver: null, note: null, contentAddress: String(number).repeat(43), size: 8 },
    attestations: [{ kind: 'publish' as const, digest: '0'.repeat(64), size: 9 }],
    testResult: document,
  }));
  const bindings = ['\u{1f600}', '\uffff', 'acme'].map((guestKey, index) => ({ guestKey, version: (index % 2) + 1 }));
  return { id: `${id}/plugin/${user}/${name}`, userId: user, userName: 'Ada', name, versions, bindings };
}

/** An extension point, which is new for each test. */
function pointOf(): CatalogExtensionPoint {
  return {
    id,
    name: 'Formulas',
    schema: { exports: { run: {} } },
    requiresApproval: false,
    minVersionAgeSeconds: 0,
    limits: { maxModuleBytes: null, maxInitialMemoryPages: null, proposals: null, allowWasi: true },
    plugins: [pluginOf('b'), pluginOf('a')],
    attestation: { digest: '', size: 1 },
  };
}

interface Signed {
  readonly by?: Signer;
  readonly statement?: object;
  readonly subject?: object;
  readonly predicate?: object;
}

function sign({ by = signer, statement, subject, predicate }: Signed = {}): object {
  const fields = { server: 'https://plugins.example', appId: 'app_01j29hxk3mfpq8ad68ha6hbsex' };
  return signed(by, {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: id, digest: { sha256: stateDigest(pointOf()) }, ...subject }],
    predicateType: 'urn:tenon:attestation:extension-point:v1',
    predicate: { ...fields, extensionPointId: id, bindings: 6, changedAt, ...predicate },
    ...statement,
  });
}

async function judge(
  bundle: unknown,
  point = pointOf(),
  keys: readonly (SigningKey | string)[] = [signer.publicKey],
): Promise<string> {
  const read = async () => Buffer.from(JSON.stringify(bundle));
  const judged = await judgeExtensionPoint({ read }, readTrustedKeys(keys), point);
  return judged.state === 'verified' ? judged.predicate.changedAt : judged.detail;
}

describe('judgeExtensionPoint()', () => {
  it('returns what a pinned key attests', async () => {
    assert.equal(await judge(sign()), changedAt);
    const point = pointOf();
    point.plugins.reverse();
    for (const { bindings } of point.plugins) bindings.reverse();
    assert.equal(await judge(sign(), point), changedAt, 'the order of the catalog does not matter');
  });

  it('fails for any other state', async () => {
    type Point = CatalogExtensionPoint;
    const plugin = (point: Point) => point.plugins[0] ?? assert.fail();
    const changes: readonly ((point: Point) => unknown)[] = [
      (point) => Object.assign(point, { name: 'Formulas ' }),
      (point) => Object.assign(point, { requiresApproval: true }),
      (point) => Object.assign(point, { minVersionAgeSeconds: 1 }),
      (point) => Object.assign(point.limits, { allowWasi: false }),
      (point) => Object.assign(point.schema.exports, { more: {} }),
      (point) => Object.assign(point.schema, { exports: {} }),
      (point) => point.plugins.pop(),
      (point) => point.plugins.push(pluginOf('c')),
      (point) => plugin(point).bindings.pop(),
      (point) => plugin(point).bindings.push({ guestKey: 'other', version: 1 }),
      (point) => Object.assign(plugin(point).bindings[0] ?? {}, { version: 2 }),
      (point) => Object.assign(plugin(point).bindings[2] ?? {}, { guestKey: 'acme2' }),
      (point) => Object.assign(plugin(point), { userName: 'Eve' }),
      (point) => Object.assign(plugin(point), { id: `${id}/plugin/${user}/c` }),
      (point) => Object.assign(plugin(point).versions[0] ?? {}, { contentAddress: '2'.repeat(43) }),
      (point) => Object.assign(plugin(point).versions[0] ?? {}, { semver: '9.0.0' }),
      (point) => Object.assign(plugin(point).versions[0] ?? {}, { note: 'Trust me' }),
      (point) => Object.assign(plugin(point).versions[0] ?? {}, { size: 9 }),
      (point) => plugin(point).versions[0]?.attestations.pop(),
      (point) => plugin(point).versions[0]?.attestations.push({ kind: 'sbom', digest: '2'.repeat(64), size: 9 }),
      (point) => Object.assign(plugin(point).versions[0]?.attestations[0] ?? {}, { digest: '3'.repeat(64) }),
      (point) => Object.assign(plugin(point).versions[0] ?? {}, { testResult: null }),
    ];
    for (const change of changes) {
      const point = pointOf();
      change(point);
      assert.match(await judge(sign(), point), /^the server signed another name, schema/, String(change));
    }
  });

  it('fails for another statement, key, or signature', async () => {
    const other = 'ext_01j29hxk3mfpq8ad68ha6hbsey';
    const cases: readonly (readonly [object, RegExp])[] = [
      [sign({ by: createSigner() }), /not trusted/],
      [sign({ subject: { name: other } }), new RegExp(`^it is about ${other}`)],
      [sign({ predicate: { extensionPointId: other } }), /^it is about/],
      [sign({ subject: { digest: { sha256: '0'.repeat(64) } } }), /^the server signed another/],
      [sign({ subject: { digest: {} } }), /^it is no attestation of an extension point/],
      [sign({ statement: { subject: [] } }), /^it is no attestation/],
      [sign({ statement: { predicateType: 'urn:tenon:attestation:publish:v1' } }), /^it is no attestation/],
      [sign({ statement: { _type: 'https://in-toto.io/Statement/v0.1' } }), /^it is no attestation/],
      [sign({ predicate: { changedAt: 'yesterday' } }), /^it is no attestation|key was not valid/],
      [{ ...sign(), mediaType: 'none' }, /media type/],
      [{}, /must have mediaType/],
    ];
    for (const [bundle, detail] of cases) assert.match(await judge(bundle), detail);
    const bytes = JSON.parse(JSON.stringify(sign()));
    bytes.dsseEnvelope.signatures[0].sig = Buffer.alloc(64).toString('base64');
    assert.match(await judge(bytes), /signature does not match/);
  });

  it('fails for a state that is younger than the end of the key', async () => {
    const until = (validUntil: string) => [{ publicKey: signer.publicKey, validUntil }];
    const late = { publicKey: signer.publicKey, validFrom: '2026-12-01T00:00:00.000Z' };
    assert.match(await judge(sign(), pointOf(), until('2026-04-30T23:59:59.999Z')), /key was not valid at 2026-05-01/);
    assert.equal(await judge(sign(), pointOf(), until(changedAt)), changedAt);
    assert.equal(await judge(sign(), pointOf(), [late]), changedAt, 'a key signs states that are older than it');
  });

  it('fails for a schema that is too deep to serialize', async () => {
    const point = pointOf();
    const depth = 200_000;
    point.schema.exports.run = JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    assert.equal(await judge(sign(), point), 'its schema is nested too deeply');
  });
});
