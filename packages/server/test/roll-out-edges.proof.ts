import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RollOutPlan, VersionId } from '@tenon/protocol';
import { advanceRollOuts } from '../src/plugins/roll-outs/advance.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { openService, type TestService } from './helpers/service.ts';

/** Reaches no guest of the workshop. */
const plan: RollOutPlan = {
  steps: [
    { ring: 'staff', holdSeconds: 60 },
    { percent: 100, holdSeconds: null },
  ],
  halt: null,
};

describe('a version in a roll-out', () => {
  let service: TestService;
  before(async () => {
    service = await openService();
  });
  after(() => service.close());

  const stored = async ({ versions }: Workshop) => {
    const id = (await versions())[0]?.id as VersionId;
    return service.store.read.rollOut(id);
  };

  it('stays the same version when its bytes are published again, and ends no rollback of guests that it does not reach', async () => {
    const workshop = await openWorkshop(service);
    const { first, call, publish } = workshop;
    await publish(1);
    await publish(2);
    assert.equal((await call('POST', '/rollback', { version: 1 })).statusCode, 200);
    await workshop.settings({ rollOut: plan });
    await publish(3, `?guest=${first}`);
    assert.equal(await workshop.bound(), 1);
    await publish(3, `?guest=${first}`);
    await publish(3);
    await publish(3);
    assert.equal((await workshop.versions()).length, 3);
    assert.equal(await workshop.bound(), 1);
    const oldest = (await workshop.versions()).at(-1);
    assert.equal((await workshop.list('second')).median?.contentAddress, oldest?.contentAddress);
  });

  it('becomes another version when its bytes are published again after a rollback', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await workshop.settings({ rollOut: plan });
    await workshop.publish(2);
    await workshop.call('POST', '/rollback', { version: 1 });
    await workshop.publish(2);
    assert.equal((await workshop.versions()).length, 3);
  });

  it('takes no transaction while its step waits for reports', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    const halt = { minCalls: 1, errorRate: 0, p95Ratio: null, memoryRatio: null };
    await workshop.settings({ rollOut: { ...plan, halt } });
    await workshop.publish(2);
    service.advance(61_000);
    const { deps } = service.services;
    while ((await advanceRollOuts(deps)) > 0);
    const write = () => assert.fail('a transaction');
    assert.equal(await advanceRollOuts({ ...deps, store: { ...deps.store, write } }), 0);
    assert.equal((await stored(workshop))?.step, 0);
  });
});
