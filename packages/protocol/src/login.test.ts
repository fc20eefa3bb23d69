import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comparisonCode, formatUserCode, parseUserCode } from './login.ts';

describe('parseUserCode()', () => {
  it('takes what formatUserCode() shows', () => {
    const shown = formatUserCode([0, 1, 2, 3, 16, 17, 18, 19]);
    assert.equal(shown, 'BCDF-VWXZ');
    assert.equal(parseUserCode(shown), shown);
  });

  it('does not count case, spaces and dashes of any kind', () => {
    for (const typed of ['bcdfvwxz', ' BCDF VWXZ ', 'bc-df-vw-xz', 'BCDF–VWXZ', 'BCDF‑VWXZ']) {
      assert.equal(parseUserCode(typed), 'BCDF-VWXZ', typed);
    }
  });

  it('is undefined for what can be no code', () => {
    for (const typed of ['', 'BCDF', 'BCDF-VWXZB', 'BCDF-VWXA', 'BCDF-VWX0', 'BCDF/VWXZ']) {
      assert.equal(parseUserCode(typed), undefined, typed);
    }
  });
});

describe('comparisonCode()', () => {
  it('is the same for the same challenge, another for another, and a user code in form', () => {
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    assert.equal(comparisonCode(challenge), comparisonCode(challenge));
    assert.notEqual(comparisonCode(challenge), comparisonCode(`F${challenge.slice(1)}`));
    assert.equal(parseUserCode(comparisonCode(challenge)), comparisonCode(challenge));
  });
});
