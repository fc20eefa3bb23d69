import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { bundleFromJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { checkDocument } from '../src/attestations/check-document.ts';
import { type Bundle, type CiAuthority, openCiAuthority, provenanceOf } from './helpers/ci-authority.ts';

const content = Buffer.from('a module');
const contentAddress = createHash('sha256').update(content).digest('base64url');
const minuteMs = 60_000;

/** A bundle, and the root to verify it with. */
interface Case {
  readonly bundle: Bundle;
  readonly root: Bundle;
}

/** Whether the library of Sigstore itself accepts a bundle. */
function sigstoreAccepts({ bundle, root: json }: Case): boolean {
  try {
    const root = TrustedRoot.fromJSON(json);
    const verifier = new Verifier(toTrustMaterial(root), {
      tlogThreshold: root.tlogs.length > 0 ? 1 : 0,
      ctlogThreshold: root.ctlogs.length > 0 ? 1 : 0,
      timestampThreshold: 1,
    });
    verifier.verify(toSignedEntity(bundleFromJSON(bundle)));
    return true;
  } catch {
    return false;
  }
}

/** The state, or the error of a bundle that is refused before it is verified. */
function verify({ bundle, root }: Case): string {
  try {
    const document = { bytes: Buffer.from(JSON.stringify(bundle)), pointer: '' };
    const { verification } = checkDocument(document, contentAddress, [root]);
    return `${verification.state}: ${verification.detail ?? ''}`;
  } catch (error) {
    return `refused: ${(error as Error).message}`;
  }
}

let authority: CiAuthority;
let clock: Date;
before(async () => {
  clock = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2 * minuteMs);
  authority = await openCiAuthority({ clock });
});

const later = (minutes: number) => new Date(clock.getTime() + minutes * minuteMs);

/** A bundle of an authority, with a change. */
async function made(change: (bundle: Bundle, root: Bundle) => unknown = () => {}, by = authority): Promise<Case> {
  const bundle = await by.sign(provenanceOf(content), { isTimestamped: true });
  const root = structuredClone(by.trustedRoot);
  await change(bundle, root);
  return { bundle, root };
}

/** Changes one bit of a text in base64, before its end. */
function flipped(text: string): string {
  const bytes = Buffer.from(text, 'base64');
  const at = bytes.length - 3;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes.toString('base64');
}

const entryOf = (bundle: Bundle) => bundle.verificationMaterial.tlogEntries[0];
const timestampsOf = (bundle: Bundle) => bundle.verificationMaterial.timestampVerificationData.rfc3161Timestamps;
const another = () => authority.sign(provenanceOf(content), { isTimestamped: true });

/** Ends the validity of an authority or log. */
function endsAt(trusted: Bundle, end: Date): void {
  trusted.validFor = { ...trusted.validFor, end: end.toISOString() };
}

/** The same as in a root without logs, such as GitHub's for private repositories. */
function withoutLogs(bundle: Bundle, root: Bundle): void {
  bundle.verificationMaterial.tlogEntries = [];
  root.tlogs = [];
}

const good: Readonly<Record<string, () => Promise<Case>>> = {
  'an entry of a log and a timestamp': () => made(),
  'an entry of a log': () => made((bundle) => timestampsOf(bundle).splice(0)),
  'a timestamp, by a root without logs': () => made(withoutLogs),
  'a timestamp, and an entry without a promise': () => made((bundle) => delete entryOf(bundle).inclusionPromise),
  'a chain of certificates, as in version 0.2': () =>
    made((bundle) => {
      const { certificate, ...others } = bundle.verificationMaterial;
      bundle.mediaType = 'application/vnd.dev.sigstore.bundle+json;version=0.2';
      bundle.verificationMaterial = { ...others, x509CertificateChain: { certificates: [certificate] } };
    }),
  'a log whose validity ends with the entry': () => made((_, root) => endsAt(root.tlogs[0].publicKey, clock)),
  'an entry and a timestamp at the end of the certificate': async () =>
    made(() => {}, await openCiAuthority({ clock, loggedAt: later(10), timestampedAt: later(10) })),
};

const bad: Readonly<Record<string, readonly [() => Promise<Case>, RegExp]>> = {
  'a certificate that expired before the entry': [
    async () => made((bundle) => timestampsOf(bundle).splice(0), await openCiAuthority({ clock, loggedAt: later(11) })),
    /certificate/i,
  ],
  'a certificate that begins after the entry': [
    async () => made((bundle) => timestampsOf(bundle).splice(0), await openCiAuthority({ clock, loggedAt: later(-1) })),
    /certificate/i,
  ],
  'a certificate that expired before the timestamp, but not before the entry': [
    async () => made(() => {}, await openCiAuthority({ clock, timestampedAt: later(11) })),
    /certificate/i,
  ],
  'a certificate that expired before the timestamp, by a root without logs': [
    async () => made(withoutLogs, await openCiAuthority({ clock, timestampedAt: later(11) })),
    /certificate/i,
  ],
  'neither a timestamp nor an entry, by a root without logs': [
    () =>
      made((bundle, root) => {
        withoutLogs(bundle, root);
        timestampsOf(bundle).splice(0);
      }),
    /timestamps/,
  ],
  'an entry that no log of the root has signed': [
    () =>
      made((bundle, root) => {
        root.tlogs = [];
        timestampsOf(bundle).splice(0);
      }),
    /./,
  ],
  'the timestamp of another signature': [
    () => made(async (bundle) => timestampsOf(bundle).splice(0, 1, timestampsOf(await another())[0])),
    /timestamp/,
  ],
  'a damaged timestamp': [
    () =>
      made((bundle) => {
        timestampsOf(bundle)[0].signedTimestamp = flipped(timestampsOf(bundle)[0].signedTimestamp);
      }),
    /timestamp/,
  ],
  'a timestamp that is no DER': [
    () => made((bundle) => timestampsOf(bundle).splice(0, 1, { signedTimestamp: 'AAAA' })),
    /./,
  ],
  'a timestamp of an authority that the root has not': [
    () =>
      made((_, root) => {
        root.timestampAuthorities = [];
      }),
    /timestamp/,
  ],
  'a timestamp after the end of its authority': [
    () => made((_, root) => endsAt(root.timestampAuthorities[0], later(-5))),
    /timestamp/,
  ],
  'the same timestamp twice': [
    () => made((bundle) => timestampsOf(bundle).push(timestampsOf(bundle)[0])),
    /duplicate timestamp/,
  ],
  'the same entry twice': [
    () => made((bundle) => bundle.verificationMaterial.tlogEntries.push(entryOf(bundle))),
    /duplicate/,
  ],
  'no entry': [
    () =>
      made((bundle) => {
        bundle.verificationMaterial.tlogEntries = [];
      }),
    /tlog entries/,
  ],
  'the entry of another bundle': [
    () => made(async (bundle) => bundle.verificationMaterial.tlogEntries.splice(0, 1, entryOf(await another()))),
    /mismatch/,
  ],
  'an entry without a proof': [() => made((bundle) => delete entryOf(bundle).inclusionProof), /invalid bundle/],
  'an entry with a damaged promise': [
    () =>
      made((bundle) => {
        const promise = entryOf(bundle).inclusionPromise;
        promise.signedEntryTimestamp = flipped(promise.signedEntryTimestamp);
      }),
    /promise/,
  ],
  'an entry with a damaged proof': [
    () =>
      made((bundle) => {
        const { checkpoint } = entryOf(bundle).inclusionProof;
        checkpoint.envelope = checkpoint.envelope.replace(/\n1\n/, '\n2\n');
      }),
    /./,
  ],
  'an entry with another time': [
    () =>
      made((bundle) => {
        entryOf(bundle).integratedTime = String(Number(entryOf(bundle).integratedTime) + 1);
      }),
    /promise/,
  ],
  'an entry with another body': [
    () =>
      made((bundle) => {
        const entry = entryOf(bundle);
        const body = Buffer.from(entry.canonicalizedBody, 'base64').toString().replace('0.0.1', '0.0.2');
        entry.canonicalizedBody = Buffer.from(body).toString('base64');
      }),
    /./,
  ],
  'another payload': [
    () =>
      made(({ dsseEnvelope }) => {
        const statement = provenanceOf(content, { predicate: { buildDefinition: {} } });
        dsseEnvelope.payload = Buffer.from(JSON.stringify(statement)).toString('base64');
      }),
    /./,
  ],
  'another signature': [
    () =>
      made(({ dsseEnvelope }) => {
        dsseEnvelope.signatures[0].sig = flipped(dsseEnvelope.signatures[0].sig);
      }),
    /./,
  ],
  'another certificate': [
    () =>
      made(async ({ verificationMaterial }) => {
        verificationMaterial.certificate = (await another()).verificationMaterial.certificate;
      }),
    /./,
  ],
  'a certificate that no log has recorded': [
    () => made((_, root) => Object.assign(root.ctlogs[0].logId, { keyId: Buffer.alloc(32).toString('base64') })),
    /SCT/,
  ],
  'a log whose validity ended before the entry': [
    () => made((_, root) => endsAt(root.tlogs[0].publicKey, later(-1))),
    /./,
  ],
  'an authority whose validity ended before the certificate': [
    () => made((_, root) => endsAt(root.certificateAuthorities[0], later(-1))),
    /certificate/i,
  ],
};

/** These bundles are valid, but they are not about the content, or their root is ambiguous. */
const stricter: Readonly<Record<string, readonly [() => Promise<Case>, RegExp]>> = {
  'a statement without type': [() => signed({ _type: undefined }), /statement/],
  'a statement of an unknown type': [() => signed({ _type: 'https://in-toto.io/Statement/v9' }), /statement/],
  'a subject without sha256': [() => signed({ subject: [{ name: 'a', digest: { sha512: 'ab' } }] }), /another content/],
  'a log whose validity has no start': [
    () => made((_, root) => delete root.tlogs[0].publicKey.validFor.start),
    /start of its validity/,
  ],
};

async function signed(fields: object): Promise<Case> {
  const bundle = await authority.sign({ ...provenanceOf(content), ...fields });
  return { bundle, root: authority.trustedRoot };
}

describe('checkDocument() and @sigstore/verify', () => {
  for (const [what, make] of Object.entries(good)) {
    it(`accept ${what}`, async () => {
      const one = await make();
      assert.deepEqual([verify(one), sigstoreAccepts(one)], ['verified: ', true]);
    });
  }

  for (const [what, [make, detail]] of Object.entries(bad)) {
    it(`refuse ${what}`, async () => {
      const one = await make();
      const found = verify(one);
      assert.match(found, /^(failed|refused): /);
      assert.match(found, detail);
      assert.equal(sigstoreAccepts(one), false);
    });
  }
});

describe('checkDocument()', () => {
  for (const [what, [make, detail]] of Object.entries(stricter)) {
    it(`also refuses ${what}`, async () => {
      const found = verify(await make());
      assert.match(found, /^(failed|refused): /);
      assert.match(found, detail);
    });
  }
});
