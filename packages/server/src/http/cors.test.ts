import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isFromOwnPage } from './cors.ts';

const base = 'https://tenon.example/plugins';

describe('isFromOwnPage()', () => {
  const cases: readonly [method: string, headers: Record<string, string>, isOwn: boolean][] = [
    ['POST', { 'sec-fetch-site': 'same-origin' }, true],
    ['POST', { 'sec-fetch-site': 'same-origin', origin: 'https://tenon.example' }, true],
    ['POST', { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }, false],
    ['POST', { 'sec-fetch-site': 'same-site' }, false],
    ['POST', { 'sec-fetch-site': 'cross-site', origin: 'https://tenon.example' }, false],
    ['POST', { 'sec-fetch-site': 'none' }, false],
    ['GET', { 'sec-fetch-site': 'none' }, true],
    ['GET', { 'sec-fetch-site': 'cross-site' }, false],
    ['POST', { origin: 'https://tenon.example', host: 'inside:8366' }, true],
    ['POST', { origin: 'http://127.0.0.1:8366', host: '127.0.0.1:8366' }, true],
    ['POST', { origin: 'http://tenon.example' }, false],
    ['POST', { origin: 'https://tenon.example.evil.example' }, false],
    ['POST', { origin: 'null' }, false],
    ['POST', { host: 'tenon.example' }, true], // no browser
  ];
  for (const [method, headers, isOwn] of cases) {
    it(`${isOwn ? 'lets' : 'keeps'} ${method} ${JSON.stringify(headers)} ${isOwn ? 'in' : 'out'}`, () => {
      assert.equal(isFromOwnPage({ method, headers }, base), isOwn);
    });
  }
});
