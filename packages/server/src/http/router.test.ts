import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTargetReader, rawWildcardPattern } from './router.ts';

describe('createTargetReader()', () => {
  const raw = [rawWildcardPattern('/api/v1/extension-points/:extensionPointId/bindings/*')];
  const read = createTargetReader(() => ['https://a.example/tenon', 'https://b.example/instruments/'], raw);
  const rewrite = (target: string) => read(target).path;

  it('takes away the path prefixes of the public URLs, whole segments only', () => {
    assert.equal(rewrite('/tenon/api/v1/me'), '/api/v1/me');
    assert.equal(rewrite('/instruments/instrument'), '/instrument');
    assert.equal(rewrite('/tenon'), '/');
    assert.equal(rewrite('/tenons/api'), '/tenons/api');
    assert.equal(rewrite('/api/v1/me?x=/tenon/'), '/api/v1/me?x=/tenon/');
  });

  it('takes the absolute form for what it names', () => {
    assert.equal(rewrite('http://host:80/api/v1/me'), '/api/v1/me');
    assert.equal(rewrite('http://host'), '/');
    assert.equal(rewrite('https://host?x'), '/?x');
  });

  it("finds OAuth's metadata where RFC 8414 puts it for an issuer with a path", () => {
    const wellKnown = '/.well-known/oauth-authorization-server';
    assert.equal(rewrite(`${wellKnown}/tenon`), wellKnown);
    assert.equal(rewrite(`${wellKnown}/tenon?x=1`), `${wellKnown}?x=1`);
    assert.equal(rewrite(`/tenon${wellKnown}`), wellKnown);
    for (const other of ['/tenons', '/tenon/x', '/']) {
      assert.equal(rewrite(wellKnown + other), wellKnown + other);
    }
  });

  it('keeps raw wildcards from the router', () => {
    const bindings = '/api/v1/extension-points/ext_1/bindings/';
    assert.deepEqual(read(`${bindings}%zz`), { path: bindings, rawWildcard: '%zz' });
    assert.deepEqual(read(`/tenon${bindings}a/b?c`), { path: bindings, rawWildcard: 'a/b' });
    assert.deepEqual(read(bindings), { path: bindings, rawWildcard: '' });
    for (const other of ['/api/v1/extension-points/ext_1/bindings', '/api/v1/extension-points/a/b/bindings/x']) {
      assert.deepEqual(read(other), { path: other, rawWildcard: undefined });
    }
  });
});
