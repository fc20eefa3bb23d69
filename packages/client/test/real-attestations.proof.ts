import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readTrustedKeys, type SigningKey, verifyAttestation } from '@tenon/client/provenance';
import { createRandom } from '../../../test/helpers/random.ts';
import { numberedModule } from './helpers/numbered-module.ts';
import { sigstoreAccepts } from './helpers/sigstore.ts';
import { openStage, type Stage } from './helpers/stage.ts';

const random = createRandom(7);
const guestKey = 'customers/umbrella';

describe('verifyAttestation() of what a real server signs', () => {
  let stage: Stage;
  before(async () => {
    stage = await openStage();
    await stage.invite(guestKey);
  });
  after(() => stage?.close());

  it('accepts what Sigstore accepts, and refuses each damaged bundle that Sigstore refuses', async (test) => {
    const { address, ...module } = numberedModule(1, random);
    await stage.publish(guestKey, 'first', { address, ...module });
    const { extensionPointId } = stage;
    const id = `${extensionPointId}/plugin/${stage.server.quickstart.TENON_USER_ID}/first`;
    const path = `artifacts/${id}/attestations?contentAddress=${address}&kind=publish`;
    const { objects } = await stage.call<{ readonly objects: readonly { readonly bundle: unknown }[] }>('GET', path);
    const response = await fetch(`${stage.url}/.well-known/tenon-signing-keys.json`);
    const { keys } = (await response.json()) as { readonly keys: readonly SigningKey[] };
    const trusted = readTrustedKeys(keys);
    const plugin = { id, extensionPointId, contentAddress: address };
    assert.equal(objects.length, 1);
    const bundle = objects[0]?.bundle;
    assert.equal((await verifyAttestation(bundle, plugin, trusted)).state, 'verified');
    assert.ok(sigstoreAccepts(bundle, keys));
    const counts = { 'refused by both': 0, 'refused by ours': 0, 'accepted by both': 0 };
    const text = JSON.stringify(bundle);
    for (let time = 0; time < 4_000; time++) {
      const damaged = parse(damage(text));
      if (damaged === undefined || JSON.stringify(damaged) === text) continue;
      const isVerified = (await verifyAttestation(damaged, plugin, trusted)).state === 'verified';
      const isAccepted = sigstoreAccepts(damaged, keys);
      assert.ok(isAccepted || !isVerified, JSON.stringify(damaged));
      counts[isVerified ? 'accepted by both' : isAccepted ? 'refused by ours' : 'refused by both']++;
    }
    test.diagnostic(JSON.stringify(counts));
    assert.ok(counts['refused by both'] > 1_000);
    assert.equal(counts['accepted by both'], 0);
  });
});

/** Replaces, removes, or repeats a part of a text. */
function damage(text: string): string {
  const at = random.below(text.length);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  const kind = random.below(4);
  if (kind === 0) return before + after.slice(1 + random.below(8));
  if (kind === 1) return before + after.slice(0, 4) + after;
  return before + String.fromCharCode(32 + random.below(95)) + after.slice(1);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
