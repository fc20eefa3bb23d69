import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createClient } from '@tenon/client';
import { createExtismPlugin } from '@tenon/client/extism';
import type { RollOut } from '@tenon/protocol';
import { openWorkshop } from '../../packages/server/test/helpers/plugins.ts';
import { openService, type TestService } from '../../packages/server/test/helpers/service.ts';
import { ok, tinyModule } from '../../packages/server/test/helpers/world.ts';

/** As {@link tinyModule}, but its function traps. */
const trapping = Buffer.from(
  tinyModule(3).toString('hex').replace('0a040102000b', '0a05010300000b'), // `unreachable` in the body
  'hex',
);

describe('createExtismPlugin() with a client that reports', () => {
  let service: TestService;
  before(async () => {
    service = await openService();
  });
  after(() => service.close());

  it('halts the roll-out of a version that traps, and its guests are back', async () => {
    const url = await service.listen();
    const workshop = await openWorkshop(service);
    const { owner, publisher, viewer, extensionPointId } = workshop;
    const halt = { minCalls: 20, errorRate: 0.02, p95Ratio: null, memoryRatio: null };
    await workshop.settings({ rollOut: { steps: [{ percent: 100, holdSeconds: 3600 }], halt } });
    const { contentAddress } = await workshop.publish(1);
    const headers = { 'content-type': 'application/wasm' };
    await ok(service, 'PUT', workshop.path(), { token: publisher.token, body: trapping, headers });
    assert.notEqual((await workshop.list()).median?.contentAddress, contentAddress);
    const client = createClient({ baseUrl: url, token: viewer.token, reports: true, streaming: false, maxAgeMs: 0 });
    const key = { extensionPointId, guestKey: 'first', name: 'median' };
    const plugin = await createExtismPlugin(client, key);
    for (let call = 0; call < 20; call++) await assert.rejects(plugin.call('evaluate'), /unreachable/);
    await plugin.close();
    await client.close();
    const path = `${workshop.path()}/versions/2/roll-out`;
    const { state, reason } = await ok<RollOut>(service, 'GET', path, { token: owner.token });
    assert.equal(state, 'halted');
    assert.match(reason ?? '', /100 % of 20 calls failed/);
    for (const guest of ['first', 'second'] as const) {
      assert.equal((await workshop.list(guest)).median?.contentAddress, contentAddress);
    }
  });
});
