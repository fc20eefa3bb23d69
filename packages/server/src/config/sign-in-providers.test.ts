import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { signInProviders } from './sign-in-providers.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenon-providers-'));
after(() => rmSync(folder, { recursive: true }));

const corp = { id: 'corp', label: 'Corp', issuer: 'https://id.example.com', clientId: 'tenon' };

function read(content: unknown, mode = 0o600) {
  const path = join(folder, 'providers.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode });
  return signInProviders(path);
}

describe('signInProviders()', () => {
  it('reads providers, with defaults', () => {
    const { passwordSignIn, providers, warnings } = read({ providers: [corp] });
    assert.equal(passwordSignIn, true);
    assert.deepEqual(warnings, []);
    assert.deepEqual(providers[0]?.scopes, ['openid', 'email', 'profile']);
    assert.equal(providers[0]?.createsAccounts, false);
    assert.equal(providers[0]?.clientSecret, undefined);
  });

  it('reads a secret from a file next to it', () => {
    writeFileSync(join(folder, 'secret'), 'hunter2\n', { mode: 0o644 });
    const { providers, warnings } = read({ providers: [{ ...corp, clientSecretFile: 'secret' }] });
    assert.equal(providers[0]?.clientSecret, 'hunter2');
    assert.match(warnings.join(), /secret \(mode 644\), which may hold client secrets/);
  });

  const faults: Readonly<Record<string, readonly [content: unknown, expected: RegExp]>> = {
    'an unknown field': [{ providers: [{ ...corp, colour: 'red' }] }, /\/providers\/0\/colour is not a known field/],
    'a wrong type': [{ providers: [{ ...corp, label: 5 }] }, /\/providers\/0\/label must be/],
    'a missing field': [{ providers: [{ ...corp, clientId: undefined }] }, /\/providers\/0\/clientId is required/],
    'an id that is used twice': [{ providers: [corp, corp] }, /\/providers\/1\/id is used twice: corp/],
    'plain http': [
      { providers: [{ ...corp, issuer: 'http://id.example.com' }] },
      /\/providers\/0\/issuer must be an https/,
    ],
    'no URL': [{ providers: [{ ...corp, issuer: 'id.example.com' }] }, /\/providers\/0\/issuer must be an https/],
    'rules without a claim': [
      { providers: [{ ...corp, rules: [{ group: 'a', role: 'operator' }] }] },
      /\/providers\/0\/groupClaim is required with rules/,
    ],
    'a role without an application': [
      { providers: [{ ...corp, groupClaim: 'groups', rules: [{ group: 'a', role: 'admin' }] }] },
      /\/providers\/0\/rules\/0/,
    ],
    'two secrets': [
      { providers: [{ ...corp, clientSecret: 'a', clientSecretFile: 'b' }] },
      /\/providers\/0\/clientSecretFile can't be used together/,
    ],
    'a missing file': [
      { providers: [{ ...corp, clientSecretFile: 'none' }] },
      /\/providers\/0\/clientSecretFile names a file/,
    ],
    'no way in': [{ passwordSignIn: false, providers: [] }, /\/passwordSignIn is false, and there is no provider/],
    'no JSON': ['{"providers": [{"clientSecret": "hunter2", oops', /it is not JSON/],
  };
  for (const [what, [content, expected]] of Object.entries(faults)) {
    it(`refuses ${what}, with the place`, () => {
      assert.throws(
        () => read(content),
        (error: Error) => expected.test(error.message) && !error.message.includes('hunter2'),
      );
    });
  }
});
