import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { UnavailableError } from '../../db/store.ts';
import { runWithFairnessKey } from '../../workers/fairness-key.ts';
import { createPasswordWorkers, type PasswordWorkers, passwordCost } from './password-hasher.ts';
import { parseHash } from './password-tasks.ts';

const cost = { memoryKiB: 8, passes: 1, lanes: 1 };

describe('createPasswordWorkers()', () => {
  let hasher: PasswordWorkers;
  before(() => {
    hasher = createPasswordWorkers({ passwordThreads: 1, passwordQueue: 8, cost });
  });
  after(() => hasher.close());

  it('hashes with a new salt each time, in the PHC string format', async () => {
    const hashes = await Promise.all([hasher.hash('magnolia'), hasher.hash('magnolia')]);
    for (const hash of hashes) {
      assert.match(hash, /^\$argon2id\$v=19\$m=8,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
      assert.equal(await hasher.verify('magnolia', hash), true);
      assert.equal(await hasher.verify('Magnolia', hash), false);
    }
    assert.notEqual(hashes[0], hashes[1]);
  });

  it('verifies a hash of the reference implementation', async () => {
    // https://github.com/P-H-C/phc-winner-argon2/blob/master/src/test.c, its first case of version 19 and Argon2id
    const hash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    assert.equal(await hasher.verify('password', hash), true);
    assert.equal(await hasher.verify('differentpassword', hash), false);
  });

  it('verifies no password against a missing or malformed hash', async () => {
    for (const nothing of [
      undefined,
      '',
      '$argon2id$v=19$m=0,t=0,p=0$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA',
      'x',
    ]) {
      assert.equal(await hasher.verify('', nothing), false);
      assert.equal(await hasher.verify('magnolia', nothing), false);
    }
  });

  it('fails with UnavailableError when the queue is full', async () => {
    const asked = Array.from({ length: 12 }, () => hasher.hash('magnolia'));
    const outcomes = await Promise.allSettled(asked);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.equal(refused.length, 3); // one runs, eight wait
    for (const { reason } of refused) assert.ok(reason instanceof UnavailableError);
  });

  it('serves another caller when one fills the queue', async () => {
    const hash = (caller: string) => runWithFairnessKey(caller, () => hasher.hash('magnolia'));
    const flood = Promise.allSettled(Array.from({ length: 20 }, () => hash('network')));
    assert.match(await hash('account'), /^\$argon2id/);
    const refused = (await flood).filter(({ status }) => status === 'rejected');
    assert.ok(refused.length >= 11, `${refused.length}`);
  });

  it('recognises hashes of a lower cost as outdated', async () => {
    const cheap = await hasher.hash('magnolia');
    assert.equal(hasher.isOutdated(cheap), false);
    const dearer = createPasswordWorkers({ passwordThreads: 1, passwordQueue: 1, cost: { ...cost, passes: 2 } });
    assert.equal(dearer.isOutdated(cheap), true);
    assert.equal(await dearer.verify('magnolia', cheap), true);
    await dearer.close();
  });
});

describe('passwordCost', () => {
  it('is not below the minimum of OWASP and RFC 9106', () => {
    assert.ok(passwordCost.memoryKiB >= 64 * 1024 && passwordCost.passes >= 3);
    assert.deepEqual(parseHash(`$argon2id$v=19$m=65536,t=3,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`), {
      ...passwordCost,
      salt: new Uint8Array(16),
      tag: new Uint8Array(32),
    });
  });
});
