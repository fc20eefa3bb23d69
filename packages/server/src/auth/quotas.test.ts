import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import { defaultQuotas } from '../config/quotas.ts';
import { TooManyAttemptsError } from '../http/domain-errors.ts';
import { requirePublishQuota } from './quotas.ts';

describe('the rate of publishing', () => {
  it('accepts one version after the clock was set back, and then enforces the rate', async () => {
    const key = { extensionPointId: newId('extensionPoint'), userId: newId('user'), name: 'a' };
    let chargedUntilMs = 0;
    const read = {
      sumPublishedBytes: async () => 0,
      countPlugins: async () => ({ plugins: 0, bytes: 0 }),
      pluginChargedUntilMs: async () => chargedUntilMs,
    };
    const publishAt = async (nowMs: number) => {
      chargedUntilMs = await requirePublishQuota(read, defaultQuotas, key, newId('app'), undefined, 8, nowMs);
    };
    const nowMs = Date.UTC(2026, 0, 1);
    for (let count = 0; count < 10; count++) await publishAt(nowMs + 8 * 3_600_000);
    const isAMinute = (error: unknown) => error instanceof TooManyAttemptsError && error.retryAfterSeconds === 60;
    await publishAt(nowMs);
    await assert.rejects(publishAt(nowMs), isAMinute);
    await publishAt(nowMs + 60_000);
    await assert.rejects(publishAt(nowMs + 60_000), isAMinute);
  });
});
