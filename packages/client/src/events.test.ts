import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAnswering, key, listAnswer, listenTo, openClient } from '../test/helpers/fake-server.ts';

describe('on()', () => {
  it('fails no call when a listener throws, and tells the others', async () => {
    const { client } = openClient(createAnswering(() => listAnswer({})));
    const thrown = new Error('mine');
    for (const type of ['response', 'lookup', 'error'] as const) {
      client.on(type, () => {
        throw thrown;
      });
    }
    const told = listenTo(client);
    await client.getBindings(key);
    const problems = told
      .filter(({ type }) => type === 'error')
      .map(({ event }) => event.error as Error & { code: string });
    assert.deepEqual(
      problems.map(({ code, cause }) => [code, cause]),
      [
        ['listener_failed', thrown],
        ['listener_failed', thrown],
      ],
    );
    assert.ok(told.some(({ type }) => type === 'response'));
  });

  it('tells nothing any more once it was ended, also from within a listener', async () => {
    const { client } = openClient(
      createAnswering(() => listAnswer({})),
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
