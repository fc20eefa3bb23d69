import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { provenanceBadges, provenanceWords, signerFacts, webUrl } from './provenance-words.ts';

const signer = {
  keyId: null,
  issuer: 'https://ci.example.com',
  identity: 'https://ci.example.com/acme/median/publish.yml',
  repository: 'https://ci.example.com/acme/median',
  workflow: null,
  commit: null,
  runUrl: null,
};

describe('provenanceWords', () => {
  it('has words and a badge of its own for each state', () => {
    assert.equal(new Set(Object.values(provenanceWords)).size, 3);
    assert.equal(new Set(Object.values(provenanceBadges)).size, 3);
  });
});

describe('signerFacts()', () => {
  it('names what is known, and nothing of a failed attestation', () => {
    assert.deepEqual(
      signerFacts({ kind: 'provenance', signer }).map(([term]) => term),
      ['Signer', 'Issuer', 'Repository'],
    );
    assert.deepEqual(signerFacts({ kind: 'publish', signer: { ...signer, keyId: 'ab'.repeat(32) } })[0], [
      'Signer',
      'this server, key abababababababab…',
    ]);
    assert.deepEqual(signerFacts({ kind: 'provenance', signer: null }), []);
  });
});

describe('webUrl()', () => {
  it('returns https URLs only', () => {
    assert.equal(webUrl('https://github.com/a'), 'https://github.com/a');
    for (const text of [null, '', 'javascript:alert(1)', 'http://a.example', 'data:text/html,a']) {
      assert.equal(webUrl(text), undefined);
    }
  });
});
