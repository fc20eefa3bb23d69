import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTargetReader, rawWildcardPattern } from './router.ts';

describe('createTargetReader()', () => {
  const raw = [rawWildcardPattern('/api/v1/extension-points/:extensionPointId/bindings/*')];
  const read = createTargetReader(() => ['https://a.example/tenon', 'https://b.example/instruments/'], raw);
  const rewrite = (target: string) => read(target).path;

  it('removes the path prefixes of the public URLs, by whole segments', () => {
    assert.equal(rewrite('/tenon/api/v1/me'), '/api/v1/me');
    assert.equal(rewrite('/instruments/instrument'), '/instrument');
    assert.equal(rewrite('/tenon'), '/');
    assert.equal(rewrite('/tenons/api'), '/tenons/api');
    assert.equal(rewrite('/api/v1/me?x=/tenon/'), '/api/v1/me?x=/tenon/');
  });

  it('accepts the absolute form', () => {
    assert.equal(rewrite('http://host:80/api/v1/me'), '/api/v1/me');
    assert.equal(rewrite('http://host'), '/');
    assert.equal(rewrite('https://host?x'), '/?x');
  });

  it('finds the OAuth metadata of an issuer with a path (RFC 8414)', () => {
    const wellKnown = '/.well-known/oauth-authorization-server';
    assert.equal(rewrite(`${wellKnown}/tenon`), wellKnown);
    assert.equal(rewrite(`${wellKnown}/tenon?x=1`), `${wellKnown}?x=1`);
    assert.equal(rewrite(`/tenon${wellKnown}`), wellKnown);
    for (const other of ['/tenons', '/tenon/x', '/']) {
      assert.equal(rewrite(wellKnown + other), wellKnown + other);
    }
  });

  it('separates raw wildcards', () => {
    const bindings = '/api/v1/extension-points/ext_1/bindings/';
    assert.deepEqual(read(`${bindings}%zz`), { path: bindings, rawWildcard: '%zz' });
    assert.deepEqual(read(`/tenon${bindings}a/b?c`), { path: bindings, rawWildcard: 'a/b' });
    assert.deepEqual(read(bindings), { path: bindings, rawWildcard: '' });
    for (const other of ['/api/v1/extension-points/ext_1/bindings', '/api/v1/extension-points/a/b/bindings/x']) {
      assert.deepEqual(read(other), { path: other, rawWildcard: undefined });
    }
  });
});
