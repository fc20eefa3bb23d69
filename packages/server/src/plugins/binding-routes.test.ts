import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTargetReader, rawWildcardPattern } from '../http/router.ts';
import { bindingsPath, decodeGuestKey } from './binding-routes.ts';

const read = createTargetReader(() => ['https://host/x/bindings'], [rawWildcardPattern(bindingsPath)]);
const keyOfTarget = (target: string) => decodeGuestKey(read(target).rawWildcard);
const keyOf = (path: string) => keyOfTarget(`/api/v1/extension-points/ext_1/bindings/${path}`);

describe('decodeGuestKey()', () => {
  it('accepts an encoded and a raw key', () => {
    assert.equal(keyOf('acme'), 'acme');
    assert.equal(keyOf('customers/acme/eu'), 'customers/acme/eu');
    assert.equal(keyOf('customers%2Facme%2feu'), 'customers/acme/eu');
    assert.equal(keyOf('a%25%3F%23%5C+b'), 'a%?#\\+b');
    assert.equal(keyOf('%E2%9C%93/x'), '✓/x');
  });

  it('decodes once, and does not resolve dots', () => {
    assert.equal(keyOf('%252F'), '%2F');
    assert.equal(keyOf('a/%2e%2e/b'), 'a/../b');
  });

  it('ignores the query', () => {
    assert.equal(keyOf('acme?x=%zz'), 'acme');
    assert.equal(keyOf('a%3Fb?c'), 'a?b');
  });

  it('accepts a guest key that contains the marker', () => {
    assert.equal(keyOf('x/bindings/y'), 'x/bindings/y');
  });

  it('finds the key behind a path prefix with a marker of its own', () => {
    assert.equal(keyOfTarget('/x/bindings/api/v1/extension-points/ext_1/bindings/acme'), 'acme');
  });

  it('finds no key if the path before it has escapes', () => {
    assert.throws(() => keyOfTarget('/api/v1/extension-points/ext_1/%62indings/acme'), { code: 'not_found' });
  });

  it('rejects invalid escapes and invalid UTF-8', () => {
    for (const path of ['%', 'a%2', '%zz', '%ff', '%c3', '%ed%a0%80']) {
      assert.throws(() => keyOf(path), { code: 'invalid_request' }, path);
    }
  });
});
