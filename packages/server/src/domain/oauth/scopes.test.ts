import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { narrowScopes, parseScopes } from './scopes.ts';

describe('parseScopes()', () => {
  it('reads names with spaces between them, each once, in one order', () => {
    assert.deepEqual(parseScopes('read'), ['read']);
    assert.deepEqual(parseScopes('manage read manage'), ['read', 'manage']);
    assert.deepEqual(parseScopes(' publish  read '), ['read', 'publish']);
  });

  it('is read and publish where nothing is asked', () => {
    for (const nothing of [undefined, '', '  ']) assert.deepEqual(parseScopes(nothing), ['read', 'publish']);
  });

  it('throws invalid_scope for a name that is none', () => {
    for (const text of ['admin', 'read admin', 'Read', 'read,publish', 'read\tpublish', 'constructor']) {
      assert.throws(() => parseScopes(text), { code: 'invalid_scope' }, text);
    }
  });
});

describe('narrowScopes()', () => {
  it('grants what was asked for, or the part that is wished', () => {
    assert.deepEqual(narrowScopes(['read', 'publish']), ['read', 'publish']);
    assert.deepEqual(narrowScopes(['read', 'publish'], ['publish']), ['publish']);
    assert.deepEqual(narrowScopes(['read', 'manage'], ['manage', 'read']), ['read', 'manage']);
  });

  it('throws invalid_field for more', () => {
    assert.throws(() => narrowScopes(['read'], ['read', 'manage']), { code: 'invalid_field' });
  });
});
