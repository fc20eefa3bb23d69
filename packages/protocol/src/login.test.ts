import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comparisonCode, formatUserCode, parseUserCode } from './login.ts';

describe('parseUserCode()', () => {
  it('accepts the output of formatUserCode()', () => {
    const shown = formatUserCode([0, 1, 2, 3, 16, 17, 18, 19]);
    assert.equal(shown, 'BCDF-VWXZ');
    assert.equal(parseUserCode(shown), shown);
  });

  it('ignores case, spaces and dashes of any kind', () => {
    for (const typed of ['bcdfvwxz', ' BCDF VWXZ ', 'bc-df-vw-xz', 'BCDF–VWXZ', 'BCDF‑VWXZ']) {
      assert.equal(parseUserCode(typed), 'BCDF-VWXZ', typed);
    }
  });

  it('returns undefined for malformed codes', () => {
    for (const typed of ['', 'BCDF', 'BCDF-VWXZB', 'BCDF-VWXA', 'BCDF-VWX0', 'BCDF/VWXZ']) {
      assert.equal(parseUserCode(typed), undefined, typed);
    }
  });
});

describe('comparisonCode()', () => {
  it('depends only on the challenge, and has the format of a user code', () => {
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    assert.equal(comparisonCode(challenge), comparisonCode(challenge));
    assert.notEqual(comparisonCode(challenge), comparisonCode(`F${challenge.slice(1)}`));
    assert.equal(parseUserCode(comparisonCode(challenge)), comparisonCode(challenge));
  });
});
