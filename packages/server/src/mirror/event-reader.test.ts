import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readEvents } from './event-reader.ts';

async function read(text: string, size: number): Promise<unknown[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const events: unknown[] = [];
  for await (const some of readEvents(chunks())) events.push(...some);
  return events;
}

const stream =
  'retry: 1000\n\nid: 1-a\nevent: ready\ndata: {}\n\n:\n\nid: 2-b\n\nid: 3-c\nevent: binding\ndata: {"guestKey":"kä"}\n\n';

describe('readEvents()', () => {
  for (const size of [1, 7, 1000]) {
    it(`reads events, ids, and heartbeats in chunks of ${size} bytes`, async () => {
      assert.deepEqual(await read(stream, size), [
        { name: 'ready', data: '{}', id: '1-a' },
        { name: undefined, data: '', id: '2-b' },
        { name: 'binding', data: '{"guestKey":"kä"}', id: '3-c' },
      ]);
    });
  }

  it('ignores an incomplete event at the end', async () => {
    assert.deepEqual(await read('id: 1-a\nevent: ready\n', 100), []);
  });

  it('refuses an endless event', async () => {
    await assert.rejects(read(`data: ${'x'.repeat(70_000)}`, 5000), /more than 65536 characters/);
  });
});
