import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attest, createSigner, type Deviation, published } from '../test/helpers/attestations.ts';
import { sigstoreAccepts } from '../test/helpers/sigstore.ts';
import { type ProvenanceReason, verifyAttestation } from './attestation.ts';
import { readTrustedKeys } from './trusted-keys.ts';

const signer = createSigner();
const stranger = createSigner();
const keys = readTrustedKeys([signer.publicKey]);
const plugin = {
  id: 'ext_1/plugin/usr_1/greet',
  extensionPointId: 'ext_1',
  contentAddress: Buffer.alloc(32, 7).toString('base64url'),
};
const good = attest(signer, plugin);

/** The state, or the reason why it is not verified. */
async function judge(bundle: unknown, with_ = keys, of = plugin): Promise<'verified' | ProvenanceReason> {
  const provenance = await verifyAttestation(bundle, of, with_);
  if (provenance.state === 'verified') return 'verified';
  assert.equal(provenance.state, 'failed');
  return provenance.reason;
}

describe('verifyAttestation()', () => {
  it('returns what a trusted key attests', async () => {
    const claims = { issuer: 'https://ci.example', repository: 'acme/greet' };
    const bundle = attest(signer, plugin, { predicate: { claims, semver: '1.2.0', means: 'trusted_publishing' } });
    assert.deepEqual(await verifyAttestation(bundle, plugin, keys), {
      state: 'verified',
      keyId: signer.keyId,
      publication: {
        server: 'https://plugins.example',
        publisher: 'usr_1',
        version: 3,
        semver: '1.2.0',
        publishedAt: '2026-05-01T00:00:00.000Z',
        means: 'trusted_publishing',
        claims,
      },
    });
    assert.ok(sigstoreAccepts(bundle, [signer]));
  });

  it('names why a signed attestation is not about the plugin', async () => {
    const cases: [ProvenanceReason, Deviation][] = [
      ['payload_type', { payloadType: 'application/json' }],
      ['statement_type', { statement: { _type: 'https://in-toto.io/Statement/v0.1' } }],
      ['predicate_type', { statement: { predicateType: 'https://slsa.dev/provenance/v1' } }],
      ['subject', { subject: { digest: { sha256: '0'.repeat(64) } } }],
      ['subject', { subject: { digest: { sha512: '0'.repeat(64) } } }],
      ['subject', { statement: { subject: [] } }],
      ['subject', { statement: { subject: [1, 2] } }],
      ['malformed', { statement: { subject: [null] } }],
      ['malformed', { subject: { digest: 'none' } }],
      ['plugin', { subject: { name: 'ext_1/plugin/usr_1/other@3' } }],
      ['plugin', { subject: { name: `${plugin.id}@4` } }],
      ['plugin', { predicate: { plugin: 'ext_1/plugin/usr_2/greet' } }],
      ['plugin', { predicate: { publisher: 'usr_2' } }],
      ['plugin', { predicate: { name: 'other' } }],
      ['extension_point', { predicate: { extensionPointId: 'ext_2' } }],
      ['malformed', { predicate: { publishedAt: 'yesterday' } }],
      ['malformed', { predicate: { publishedAt: 1_777_777_777_777 } }],
      ['malformed', { predicate: { version: '3' } }],
      ['malformed', { predicate: { semver: 3 } }],
      ['malformed', { predicate: { means: null } }],
      ['malformed', { predicate: { server: undefined } }],
      ['malformed', { predicate: { claims: 'none' } }],
      ['malformed', { statement: { predicate: [] } }],
      ['malformed', { payload: Buffer.from('not json') }],
      ['malformed', { payload: Buffer.from('null') }],
      ['malformed', { payload: Buffer.from([0x22, 0xff, 0x22]) }],
    ];
    for (const [reason, deviation] of cases) {
      assert.equal(await judge(attest(signer, plugin, deviation)), reason, JSON.stringify(deviation));
    }
    const other = { ...plugin, contentAddress: Buffer.alloc(32, 8).toString('base64url') };
    assert.equal(await judge(good, keys, other), 'subject');
    assert.equal(await judge(good, keys, { ...plugin, id: 'ext_1/plugin/usr_1/other' }), 'plugin');
  });

  it('accepts any pinned key, within its period', async () => {
    const both = readTrustedKeys([published(stranger), published(signer)]);
    assert.equal(await judge(good, both), 'verified');
    assert.equal(await judge(attest(stranger, plugin), both), 'verified');
    assert.equal(await judge(attest(stranger, plugin)), 'unknown_key');
    assert.equal(
      await judge({ ...attest(stranger, plugin), verificationMaterial: good.verificationMaterial }),
      'signature',
    );
    for (const [validity, expected] of [
      [{ validFrom: '2026-05-01T00:00:00.001Z' }, 'key_validity'],
      [{ validFrom: '2026-05-01T00:00:00.000Z' }, 'verified'],
      [{ validUntil: '2026-04-30T23:59:59.999Z' }, 'key_validity'],
      [{ validUntil: '2026-05-01T00:00:00.000Z' }, 'verified'],
    ] as const) {
      assert.equal(await judge(good, readTrustedKeys([published(signer, validity)])), expected);
    }
  });

  it('rejects a pinned key that contradicts its id', async () => {
    const wrong = readTrustedKeys([published(signer, { keyId: stranger.keyId })]);
    await assert.rejects(judge(good, wrong), { code: 'invalid_option', option: 'trustedKeys[0].keyId' });
  });

  it('rejects large texts unread', async () => {
    const large = attest(signer, plugin, { predicate: { claims: { repository: 'x'.repeat(70_000) } } });
    assert.equal(await judge(large), 'malformed');
  });

  it('rejects each mutation of a bundle that Sigstore rejects', async (test) => {
    let [both, ours] = [0, 0];
    for (const [description, bundle] of mutations(good)) {
      const [accepted, sigstore] = [await judge(bundle), sigstoreAccepts(bundle, [signer])];
      if (sigstore) ours++;
      else both++;
      if (accepted === 'verified') assert.ok(sigstore, `${description} is accepted by ours only`);
      // These don't change what is signed, or by whom.
      const isHarmless = /keyid|tlogEntries is \[\]|timestampVerificationData is \{\}/.test(description);
      assert.equal(accepted === 'verified', isHarmless, `${description}: ${accepted}`);
    }
    test.diagnostic(`rejected by both: ${both}, by ours only or harmless: ${ours}`);
    assert.ok(both > 60 && ours > 5);
  });
});

/** Bundles that differ from a valid one in one place. */
function* mutations(bundle: unknown): Generator<[description: string, bundle: unknown]> {
  const values = [undefined, null, true, 0, 1.5, '', 'AAAA', [], {}, [null], { a: 1 }];
  for (const value of values) if (value !== undefined) yield [`the bundle is ${JSON.stringify(value)}`, value];
  for (const path of pathsOf(bundle)) {
    for (const value of values)
      yield [`${path.join('.')} is ${JSON.stringify(value)}`, changed(bundle, path, () => value)];
    yield [`${path.join('.')} is in a list`, changed(bundle, path, (before) => [before])];
    yield [`${path.join('.')} has another field`, changed(bundle, path, withField)];
    yield [
      `${path.join('.')} is twice in a list`,
      changed(bundle, path, (before) => (Array.isArray(before) ? [...before, ...before] : [before, before])),
    ];
    for (const [how, change] of textChanges) {
      const next = changed(bundle, path, (before) => (typeof before === 'string' ? change(before) : before));
      if (JSON.stringify(next) !== JSON.stringify(bundle)) yield [`${path.join('.')} ${how}`, next];
    }
  }
  const added = (path: string[], name: string, value: unknown): [string, unknown] => [
    `${[...path, name].join('.')} is ${JSON.stringify(value)}`,
    changed(bundle, path, (before) => ({ ...(before as object), [name]: value })),
  ];
  yield added(['verificationMaterial'], 'tlogEntries', []);
  yield added(['verificationMaterial'], 'tlogEntries', [{}]);
  yield added(['verificationMaterial'], 'timestampVerificationData', {});
  yield added(['verificationMaterial'], 'timestampVerificationData', {
    rfc3161Timestamps: [{ signedTimestamp: 'AAAA' }],
  });
  yield added(['verificationMaterial'], 'certificate', { rawBytes: 'AAAA' });
  yield added(['dsseEnvelope', 'signatures', '0'], 'keyid', 'any');
}

const textChanges: readonly (readonly [how: string, change: (text: string) => string])[] = [
  ['loses its end', (text) => text.slice(0, -1)],
  ['loses four characters', (text) => text.slice(0, -4)],
  ['is cut in half', (text) => text.slice(0, text.length / 2)],
  ['has a changed first character', (text) => `${text[0] === 'A' ? 'B' : 'A'}${text.slice(1)}`],
  ['has a changed character', (text) => `${text.slice(0, 9)}${text[9] === 'A' ? 'B' : 'A'}${text.slice(10)}`],
  ['is repeated', (text) => text + text],
  ['ends with a space', (text) => `${text} `],
  ['begins with a line break', (text) => `\n${text}`],
  ['is in capitals', (text) => text.toUpperCase()],
  ['loses its padding', (text) => text.replace(/=+$/, '')],
];

function withField(before: unknown): unknown {
  return typeof before === 'object' && before !== null
    ? { ...before, more: 1 }
    : before === undefined
      ? 1
      : { more: before };
}

function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const below = Object.entries(value).flatMap(([name, child]) => pathsOf(child, [...path, name]));
  return path.length === 0 ? below : [path, ...below];
}

function changed(value: unknown, [name, ...path]: readonly string[], change: (before: unknown) => unknown): unknown {
  if (name === undefined) return change(value);
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[name] = changed(copy[name], path, change);
  return JSON.parse(JSON.stringify(copy));
}
