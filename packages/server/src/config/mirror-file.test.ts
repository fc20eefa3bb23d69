import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { mirrorFile } from './mirror-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenon-mirror-file-'));
after(() => rmSync(folder, { recursive: true }));

const token = 'tnn_secret';
const valid = { source: 'https://tenon.example.org/base/', token };

function read(content: unknown, mode = 0o600) {
  const path = join(folder, `${Math.random()}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode });
  return mirrorFile(path);
}

describe('mirrorFile()', () => {
  it('reads a source and a token', () => {
    const { source, extensionPoints, warnings, ...rest } = read(valid);
    assert.deepEqual([source, rest.token], ['https://tenon.example.org/base', token]);
    assert.deepEqual([extensionPoints, warnings], [undefined, []]);
  });

  it('warns of a file that others can read, and of an http source on another machine', () => {
    assert.match(read(valid, 0o644).warnings.join(), /its mode should be 0600/);
    assert.match(read({ ...valid, source: 'http://10.0.0.1' }).warnings.join(), /the network can read the token/);
    assert.deepEqual(read({ ...valid, source: 'http://127.0.0.1:8366' }).warnings, []);
  });

  const faults: Readonly<Record<string, readonly [content: unknown, expected: RegExp]>> = {
    'no JSON': [`{ "token": "${token}"`, /it is not JSON/],
    'no token': [{ source: valid.source }, /\/token is required/],
    'a token with a line break': [{ ...valid, token: 'a\nb' }, /\/token/],
    'an unknown field': [{ ...valid, sources: [] }, /\/sources is not a known field/],
    'a source with credentials': [{ ...valid, source: 'https://a:b@c' }, /\/source must be an https or http URL/],
    'another scheme': [{ ...valid, source: 'file:///etc' }, /\/source must be an https or http URL/],
    'an invalid extension point': [{ ...valid, extensionPoints: ['ext_1'] }, /\/extensionPoints\/0/],
    'an empty list of extension points': [{ ...valid, extensionPoints: [] }, /\/extensionPoints/],
  };
  for (const [name, [content, expected]] of Object.entries(faults)) {
    it(`refuses ${name}, without quoting the token`, () => {
      assert.throws(
        () => read(content),
        (error) => error instanceof Error && expected.test(error.message) && !error.message.includes(token),
      );
    });
  }
});
