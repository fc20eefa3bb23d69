import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeServer, key, listenTo, listResponse, openClient } from '../test/helpers/fake-server.ts';

describe('on()', () => {
  it('fails no call if a listener throws, and calls the other listeners', async () => {
    const { client } = openClient(createFakeServer(() => listResponse({})));
    const thrown = new Error('mine');
    for (const type of ['response', 'lookup', 'error'] as const) {
      client.on(type, () => {
        throw thrown;
      });
    }
    const reported = listenTo(client);
    await client.getBindings(key);
    const problems = reported
      .filter(({ type }) => type === 'error')
      .map(({ event }) => event.error as Error & { code: string });
    assert.deepEqual(
      problems.map(({ code, cause }) => [code, cause]),
      [
        ['listener_failed', thrown],
        ['listener_failed', thrown],
      ],
    );
    assert.ok(reported.some(({ type }) => type === 'response'));
  });

  it('does not call a removed listener, even if a listener removes it', async () => {
    const { client } = openClient(
      createFakeServer(() => listResponse({})),
      { maxAgeMs: 0 },
    );
    let heard = 0;
    const end = client.on('response', () => {
      heard++;
      end();
    });
    await client.getBindings(key);
    await client.getBindings(key);
    assert.equal(heard, 1);
  });
});
