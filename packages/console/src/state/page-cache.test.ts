import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPageCache } from './page-cache.ts';

describe('createPageCache()', () => {
  it('gives back what was kept last', () => {
    const pageCache = createPageCache();
    assert.equal(pageCache.get('a'), undefined);
    pageCache.set('a', 1);
    pageCache.set('a', 2);
    assert.equal(pageCache.get('a'), 2);
  });

  it('forgets what was kept longest ago, beyond a hundred entries', () => {
    const pageCache = createPageCache();
    for (let at = 0; at < 100; at++) pageCache.set(`${at}`, at);
    pageCache.set('0', 'again');
    pageCache.set('100', 100);
    assert.equal(pageCache.get('1'), undefined);
    assert.equal(pageCache.get('0'), 'again');
    assert.equal(pageCache.get('100'), 100);
  });
});
