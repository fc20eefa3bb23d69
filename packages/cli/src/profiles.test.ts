import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Credentials, noCredentials, profileNamePattern } from './credentials.ts';
import { assertProfileName, nameForServer, readServerOption } from './profiles.ts';

function at(name: string, url: string): Credentials {
  const user = { id: 'usr_1', name: 'Ada', email: null };
  const profile = { url, token: 'tnn_x', scopes: [], expiresAt: '2027-01-01T00:00:00.000Z', user };
  return { profiles: new Map([[name, profile]]), current: name };
}

describe('nameForServer()', () => {
  for (const [url, expected] of [
    ['https://plugins.example.org', 'plugins.example.org'],
    ['http://localhost:8366', 'localhost-8366'],
    ['https://example.org/tenon/test', 'example.org-tenon-test'],
    ['http://[::1]:8366', '1-8366'],
    ['https://xn--bcher-kva.example/%C3%BC', 'xn--bcher-kva.example-C3BC'],
  ] as const) {
    it(`calls a login at ${url} ${expected}`, () => {
      assert.equal(nameForServer(noCredentials, url), expected);
      assert.match(expected, new RegExp(profileNamePattern));
    });
  }

  it("is asked for with the scheme that a server's address lacks", () => {
    assert.throws(() => readServerOption('localhost:8366'), { hint: 'Did you mean http://localhost:8366?' });
  });

  it("is never another server's login", () => {
    const credentials = at('example.org', 'http://example.org');
    assert.equal(nameForServer(credentials, 'https://example.org'), 'example.org-2');
    assert.equal(nameForServer(credentials, 'http://example.org'), 'example.org');
  });

  it('is a name however long the URL', () => {
    assert.match(
      nameForServer(noCredentials, `https://a.example/${'long/'.repeat(100)}`),
      new RegExp(profileNamePattern),
    );
  });
});

describe('readServerOption()', () => {
  it('tells URLs from names', () => {
    assert.deepEqual(readServerOption('https://Plugins.Example.org/'), { url: 'https://plugins.example.org' });
    assert.deepEqual(readServerOption('plugins.example.org'), { name: 'plugins.example.org' });
    for (const neither of ['localhost:8366', '', '-x', 'a b', 'ftp://host']) {
      assert.throws(() => readServerOption(neither), { exitCode: 2 });
    }
  });
});

describe('assertProfileName()', () => {
  it('takes names that are one word everywhere', () => {
    for (const name of ['work', 'plugins.example.org', '10', 'constructor'])
      assert.equal(assertProfileName(name), name);
    for (const name of ['', '-x', '.x', '__proto__', 'a/b', 'a b', 'ü', 'x'.repeat(101)]) {
      assert.throws(() => assertProfileName(name), { exitCode: 2 });
    }
  });
});
