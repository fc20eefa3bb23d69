import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createUrlRewriter } from './rewrite-url.ts';

describe('createUrlRewriter()', () => {
  const rewrite = createUrlRewriter(() => ['https://a.example/tenon', 'https://b.example/instruments/']);

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

  it("keeps A2's guest key from the router", () => {
    const bindings = '/api/v1/extension-points/ext_1/bindings/';
    assert.equal(rewrite(`${bindings}%zz`), bindings);
    assert.equal(rewrite(`/tenon${bindings}a/b?c`), bindings);
    assert.equal(rewrite('/api/v1/extension-points/ext_1/bindings'), '/api/v1/extension-points/ext_1/bindings');
    assert.equal(rewrite('/api/v1/extension-points/a/b/bindings/x'), '/api/v1/extension-points/a/b/bindings/x');
  });
});
