import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../api/api-error.ts';
import { followUpdates } from './update-stream.ts';

/** Runs a stream whose connections are these, one after the other; the last one aborts. */
async function follow(connections: readonly (string | Error)[], start = { knownUntilMs: 0, nowMs: 0 }) {
  const controller = new AbortController();
  const waits: number[] = [];
  const withins: number[] = [];
  let { nowMs } = start;
  let updates = 0;
  let next = 0;
  await followUpdates({
    async connect(within) {
      withins.push(within);
      const connection = connections[next++];
      if (connection === undefined) {
        controller.abort();
        throw new Error('aborted');
      }
      if (connection instanceof Error) throw connection;
      return new Response(connection);
    },
    onUpdate: () => void updates++,
    signal: controller.signal,
    nowMs: () => nowMs,
    knownUntilMs: start.knownUntilMs,
    async wait(ms) {
      waits.push(ms);
      nowMs += ms;
    },
    random: () => 1,
  });
  return { updates, waits, withins };
}

const event = (name: string) => `event: ${name}\ndata: {}\n\n`;

describe('followUpdates()', () => {
  it('reports each update, over connections that end, and asks for what changed between them', async () => {
    const first = `retry: 1000\n\n${event('ready')}:\n\n${event('update')}${event('update')}`;
    const { updates, waits, withins } = await follow([first, event('ready') + event('end')]);
    assert.equal(updates, 2);
    assert.deepEqual(waits, [1_000, 1_000]);
    assert.deepEqual(withins, [1, 2, 2]);
  });

  it('waits longer after each failure, up to a minute', async () => {
    const { waits } = await follow(Array.from({ length: 9 }, () => new Error('unreachable')));
    assert.deepEqual(
      waits,
      [1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000),
    );
  });

  it('reports a change after a gap for which the server does not look back', async () => {
    const { updates, withins } = await follow([], { knownUntilMs: 0, nowMs: 5_000_000 });
    assert.deepEqual([updates, withins], [1, [3_600]]);
  });

  it('ends without access, and when the user does not sign in again', async () => {
    const problem = { type: '', title: '', status: 404, detail: '', code: 'not_found' } as const;
    for (const error of [new ApiError(problem), new DOMException('', 'AbortError')]) {
      assert.deepEqual((await follow([error, event('ready')])).withins.length, 1);
    }
  });
});
