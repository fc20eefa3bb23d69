import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isCodeChallenge, isCodeVerifier, verifiesChallenge } from './pkce.ts';

// https://www.rfc-editor.org/rfc/rfc7636#appendix-B
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

describe('verifiesChallenge()', () => {
  it('is true for the verifier of the challenge', () => {
    assert.ok(verifiesChallenge(verifier, challenge));
  });

  it('is false for any other verifier, of any length', () => {
    for (const other of [challenge, '', `${verifier}x`, verifier.toLowerCase()]) {
      assert.ok(!verifiesChallenge(other, challenge), other);
    }
    for (const other of ['', verifier, `${challenge}=`, challenge.slice(1)]) {
      assert.ok(!verifiesChallenge(verifier, other), other);
    }
  });
});

describe('isCodeVerifier()', () => {
  it('accepts 43 to 128 unreserved characters', () => {
    for (const good of [verifier, 'x'.repeat(43), '-._~'.repeat(32)]) assert.ok(isCodeVerifier(good), good);
    for (const bad of ['', 'x'.repeat(42), 'x'.repeat(129), `${'x'.repeat(43)}\n`, 'ä'.repeat(43), '+'.repeat(43)]) {
      assert.ok(!isCodeVerifier(bad), bad);
    }
  });
});

describe('isCodeChallenge()', () => {
  it('accepts a SHA-256 in base64url', () => {
    assert.ok(isCodeChallenge(challenge));
    for (const bad of ['', challenge.slice(1), `${challenge}=`, challenge.replace('-', '+'), `${challenge}\n`]) {
      assert.ok(!isCodeChallenge(bad), bad);
    }
  });
});
