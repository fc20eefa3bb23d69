import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noProvenancePolicy } from '@tenon/protocol';
import { createIo } from '../../test/helpers/streams.ts';
import type { Api } from '../api.ts';
import { createReporter } from '../output.ts';
import type { Session } from '../session.ts';
import { stateDigest } from './extension-point-attestation.ts';
import { writeBundle } from './write-bundle.ts';

const id = 'ext_01j29hxk3mfpq8ad68ha6hbsex';

const limits = { maxModuleBytes: null, maxInitialMemoryPages: null, proposals: null, allowWasi: true };
const rules = { requiresApproval: false, minVersionAgeSeconds: 0, limits, provenance: noProvenancePolicy };

const pointOf = (name: string) => ({ id, name, schema: { exports: {} }, ...rules });

function bundleOf(sha256: string) {
  const subject = [{ name: id, digest: { sha256 } }];
  const statement = { _type: 'https://in-toto.io/Statement/v1', subject, predicateType: 'any', predicate: {} };
  const payload = Buffer.from(JSON.stringify(statement)).toString('base64');
  return { dsseEnvelope: { payloadType: 'application/vnd.in-toto+json', payload } };
}

/** A server at which an extension point without plugins changes its name after each of the first readings. */
function sessionWith(changes: number): { readonly session: Session; readonly readings: () => number } {
  const { io } = createIo();
  let readings = 0;
  const name = (count: number) => `Name ${Math.min(count, changes)}`;
  const api = {
    async get(path: string) {
      if (!path.endsWith('/attestation')) return pointOf(name(readings++));
      return { bundle: bundleOf(stateDigest({ ...pointOf(name(readings)), plugins: [] })) };
    },
    list: async () => [],
  } as unknown as Api;
  const session = { io, api, out: createReporter(io, true) } as unknown as Session;
  return { session, readings: () => readings };
}

describe('writeBundle()', () => {
  it('reads an extension point again until the server attests what was read', async () => {
    const { session, readings } = sessionWith(2);
    const { extensionPoints } = await writeBundle(session, [id], async () => {});
    assert.deepEqual([extensionPoints[0]?.name, readings()], ['Name 2', 3]);
  });

  it('writes nothing of an extension point that changes during each reading', async () => {
    const { session } = sessionWith(100);
    let written = 0;
    const writing = writeBundle(session, [id], async ({ length }) => {
      written += length;
    });
    await assert.rejects(writing, {
      code: 'conflict',
      exitCode: 5,
      message: `${id} changed each of the 5 times that it was read.`,
    });
    assert.equal(written, 0);
  });
});
