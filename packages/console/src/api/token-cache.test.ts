import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTokenCache } from './token-cache.ts';

const hourMs = 3_600_000;

/** Hands out `token-1`, `token-2`, …, each for a while, by a clock that the test moves. */
function setUp({ lifetimeMs = hourMs }: { readonly lifetimeMs?: number } = {}) {
  let nowMs = 1_000_000;
  let asked = 0;
  const keeper = createTokenCache(
    async () => {
      const accessToken = `token-${++asked}`;
      return { accessToken, scopes: ['read'], expiresAt: new Date(nowMs + lifetimeMs).toISOString() };
    },
    () => nowMs,
  );
  return {
    keeper,
    asked: () => asked,
    advance(ms: number) {
      nowMs += ms;
    },
  };
}

describe('createTokenCache()', () => {
  it('asks once for all who wait, and keeps what it got', async () => {
    const { keeper, asked } = setUp();
    assert.deepEqual(await Promise.all([keeper.token(), keeper.token()]), ['token-1', 'token-1']);
    assert.equal(await keeper.token(), 'token-1');
    assert.equal(asked(), 1);
  });

  it('gets another before the one that it has ends', async () => {
    const { keeper, advance } = setUp();
    await keeper.token();
    advance(hourMs - 3 * 60_000);
    assert.equal(await keeper.token(), 'token-1');
    advance(2 * 60_000);
    assert.equal(await keeper.token(), 'token-2');
  });

  it('uses a token that ends soon for a moment, and does not ask for one after the other', async () => {
    const { keeper, asked, advance } = setUp({ lifetimeMs: 30_000 });
    await keeper.token();
    await keeper.token();
    assert.equal(asked(), 1);
    advance(11_000);
    await keeper.token();
    assert.equal(asked(), 2);
  });

  it('forgets a token that was refused, but not the one that took its place', async () => {
    const { keeper } = setUp();
    await keeper.token();
    keeper.forget('token-1');
    assert.equal(await keeper.token(), 'token-2');
    keeper.forget('token-1');
    assert.equal(await keeper.token(), 'token-2');
    keeper.forget();
    assert.equal(await keeper.token(), 'token-3');
  });

  it('hands nobody a token that was asked for before everything was forgotten', async () => {
    const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    let asked = 0;
    const keeper = createTokenCache(
      async () => {
        const accessToken = (await answers[asked++]?.promise) ?? '';
        return { accessToken, scopes: ['read'], expiresAt: new Date(hourMs).toISOString() };
      },
      () => 0,
    );
    const before = keeper.token();
    keeper.forget(); // another user is signed in now
    const after = keeper.token();
    answers[1]?.resolve('of the one who came');
    assert.equal(await after, 'of the one who came');
    answers[0]?.resolve('of the one who left');
    await before;
    assert.equal(await keeper.token(), 'of the one who came');
  });

  it('asks again after a failure', async () => {
    let fails = true;
    const keeper = createTokenCache(
      async () => {
        if (fails) throw new Error('not now');
        return { accessToken: 'token', scopes: ['read'], expiresAt: new Date(hourMs).toISOString() };
      },
      () => 0,
    );
    await assert.rejects(keeper.token(), /not now/);
    fails = false;
    assert.equal(await keeper.token(), 'token');
  });
});
