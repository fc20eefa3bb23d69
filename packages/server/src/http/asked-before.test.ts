import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExtensionPointAccess } from '../domain/access.ts';
import type { Context } from '../domain/context.ts';
import { createMemories } from '../domain/memories/memories.ts';
import { recallAnswer, rememberAnswer } from './asked-before.ts';

describe('rememberAnswer()', () => {
  it('keeps no more of answers than there is room for, when each is kept by one question alone', () => {
    const memories = createMemories({ revision: () => 1, onCommitted: () => {} }, 1_000_000);
    const context = { memories, clock: () => 0 } as Context;
    const actor = { tokenId: 'tok_1', userId: 'usr_1', sessionId: null, appId: null, expiresAtMs: 1 };
    const access = { actor, app: { id: 'app_1' }, extensionPoint: { id: 'ext_1' } } as unknown as ExtensionPointAccess;
    const questions = Array.from({ length: 100 }, (_, at) => ({
      authorization: 'Bearer x',
      target: `/key?${at}`,
      guestKey: 'key',
    }));
    for (const question of questions) {
      const answer = { json: 'x'.repeat(100_000), etag: '"x"', reprDigest: 'x' };
      rememberAnswer(context, question, answer, access, memories.now());
    }
    const kept = questions.filter((question) => recallAnswer(context, question) !== undefined);
    assert.ok(kept.length > 0 && kept.length <= 12, `${kept.length}`);
  });
});
