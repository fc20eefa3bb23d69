import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { narrowScopes, parseScopes } from './scopes.ts';

describe('parseScopes()', () => {
  it('reads names with spaces between them, each once, in one order', () => {
    assert.deepEqual(parseScopes('read'), ['read']);
    assert.deepEqual(parseScopes('manage read manage'), ['read', 'manage']);
    assert.deepEqual(parseScopes(' publish  read '), ['read', 'publish']);
  });

  it('defaults to read and publish', () => {
    for (const nothing of [undefined, '', '  ']) assert.deepEqual(parseScopes(nothing), ['read', 'publish']);
  });

  it('throws invalid_scope for an unknown name', () => {
    for (const text of ['admin', 'read admin', 'Read', 'read,publish', 'read\tpublish', 'constructor']) {
      assert.throws(() => parseScopes(text), { code: 'invalid_scope' }, text);
    }
  });
});

describe('narrowScopes()', () => {
  it('grants all requested scopes by default, or a part of them', () => {
    assert.deepEqual(narrowScopes(['read', 'publish']), ['read', 'publish']);
    assert.deepEqual(narrowScopes(['read', 'publish'], ['publish']), ['publish']);
    assert.deepEqual(narrowScopes(['read', 'manage'], ['manage', 'read']), ['read', 'manage']);
  });

  it('throws invalid_field for a scope that was not requested', () => {
    assert.throws(() => narrowScopes(['read'], ['read', 'manage']), { code: 'invalid_field' });
  });
});
