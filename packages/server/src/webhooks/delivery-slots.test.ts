import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import type { DueWebhook } from '../db/webhook-records.ts';
import { createDeliverySlots } from './delivery-slots.ts';

function webhook(fields: Partial<DueWebhook> = {}): DueWebhook {
  return {
    ...{ id: newId('webhook'), appId: newId('app'), ownerId: newId('user'), url: 'https://example.org/' },
    ...{ description: null, actions: null, state: 'enabled', afterSeq: 0, failingSinceMs: null, notBeforeMs: 0 },
    ...{ createdAtMs: 0, updatedAtMs: 0, dueAtMs: 0 },
    ...fields,
  };
}

/** The webhooks of an account: of some applications, each with some webhooks. */
function account(apps: number, each: number): DueWebhook[] {
  const ownerId = newId('user');
  return Array.from({ length: apps }, () => newId('app')).flatMap((appId) =>
    Array.from({ length: each }, () => webhook({ ownerId, appId })),
  );
}

/** Lets webhooks take all slots that they may, and hold them. */
function fill(slots: ReturnType<typeof createDeliverySlots>, due: readonly DueWebhook[]): DueWebhook[] {
  const all: DueWebhook[] = [];
  for (;;) {
    const chosen = slots.choose(due);
    if (chosen.length === 0) return all;
    all.push(...chosen);
    chosen.forEach(slots.take);
  }
}

const countOf = (all: readonly DueWebhook[], matches: (webhook: DueWebhook) => boolean) => all.filter(matches).length;

describe('createDeliverySlots()', () => {
  it('gives a webhook four slots, one that fails a single one, and an application sixteen', () => {
    assert.equal(fill(createDeliverySlots(), [webhook()]).length, 4);
    assert.equal(fill(createDeliverySlots(), [webhook({ failingSinceMs: 1 })]).length, 1);
    const chosen = fill(createDeliverySlots(), account(1, 20));
    assert.equal(chosen.length, 16);
    assert.equal(new Set(chosen).size, 16, 'one for each webhook at first');
  });

  it('leaves slots for a further account, however many applications and webhooks the others have', () => {
    for (const accounts of [1, 2, 4, 20, 62]) {
      const slots = createDeliverySlots();
      fill(slots, Array.from({ length: accounts }, () => account(3, 3)).flat());
      assert.ok(slots.free() >= Math.floor(64 / (accounts + 1)), `${accounts} accounts leave ${slots.free()}`);
      const late = webhook({ dueAtMs: 1 });
      assert.deepEqual(slots.choose([late]), [late], `${accounts} accounts`);
    }
  });

  it('gives accounts, and applications of an account, equal shares', () => {
    const slots = createDeliverySlots();
    const [many, few] = [account(10, 5), account(1, 10)];
    const chosen = fill(slots, [...many, ...few]);
    assert.equal(
      countOf(chosen, ({ ownerId }) => ownerId === few[0]?.ownerId),
      16,
    );
    const counts = Map.groupBy(chosen, ({ appId }) => appId);
    counts.delete(few[0]?.appId ?? newId('app'));
    const sizes = [...counts.values()].map(({ length }) => length);
    assert.ok(counts.size === 10 && Math.max(...sizes) - Math.min(...sizes) <= 1, sizes.join());
  });

  it('begins with the delivery that was due first, and frees what was held', () => {
    const slots = createDeliverySlots();
    const [later, first] = [webhook({ dueAtMs: 2 }), webhook({ dueAtMs: 1 })];
    assert.deepEqual(slots.choose([later, first]), [first, later]);
    const frees = fill(slots, [first]).map(() => slots.take(later));
    for (const free of frees) free();
    assert.equal(slots.free(), 60);
  });
});
