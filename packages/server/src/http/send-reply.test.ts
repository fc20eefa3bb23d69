import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../../test/helpers/until.ts';
import { Reply } from './reply.ts';
import { sendChunks } from './send-reply.ts';

const chunkBytes = 256 * 1024;
const chunkCount = 64;

/** Gives chunks in the same memory each time, and tells how it ended. */
class Chunks {
  given = 0;
  hasEnded = false;
  readonly failAt: number | undefined;

  constructor(failAt?: number) {
    this.failAt = failAt;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const scratch = Buffer.alloc(chunkBytes);
    try {
      for (; this.given < chunkCount; this.given++) {
        if (this.given === this.failAt) throw new Error('the disk is broken');
        yield scratch.fill(this.given);
      }
    } finally {
      this.hasEnded = true;
    }
  }
}

describe('sendChunks()', () => {
  let server: Server;
  let chunks: Chunks;
  let broken: unknown[];
  beforeEach(async () => {
    broken = [];
    server = createServer((_request, response) => {
      const reply = new Reply(response);
      reply.header('content-length', chunkBytes * chunkCount).header('x-of', 'the reply');
      sendChunks(reply, chunks, (error) => broken.push(error)).catch(() => response.writeHead(500).end());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  async function ask(): Promise<IncomingMessage> {
    const { port } = server.address() as AddressInfo;
    const [answer] = (await once(get({ host: '127.0.0.1', port, agent: false }), 'response')) as [IncomingMessage];
    return answer;
  }

  it('sends each chunk unchanged to a slow client', async () => {
    chunks = new Chunks();
    const answer = await ask();
    assert.equal(answer.headers['x-of'], 'the reply');
    let size = 0;
    for await (const piece of answer) {
      for (let at = 0; at < piece.length; at += 1021) {
        assert.equal(piece[at], Math.floor((size + at) / chunkBytes), `at byte ${size + at}`);
      }
      size += piece.length;
      if (size < 8 * chunkBytes) await sleep(2);
    }
    assert.equal(size, chunkBytes * chunkCount);
    assert.equal(chunks.hasEnded, true);
  });

  it('stops reading for a client that does not read, and ends when it disconnects', async () => {
    chunks = new Chunks();
    const answer = await ask();
    let given = -1;
    for (let tries = 0; given !== chunks.given; tries++) {
      assert.ok(tries < 300, 'it never stopped');
      given = chunks.given;
      await sleep(100);
    }
    assert.ok(given < chunkCount, `${given} chunks were taken`);
    assert.equal(chunks.hasEnded, false);
    answer.destroy();
    await until(() => chunks.hasEnded);
    assert.deepEqual(broken, []);
  });

  it('throws an error before the first chunk', async () => {
    chunks = new Chunks(0);
    const answer = await ask();
    assert.equal(answer.statusCode, 500);
    answer.resume();
    assert.deepEqual(broken, []);
  });

  it('closes the connection after a later error, and reports it', async () => {
    chunks = new Chunks(3);
    const answer = await ask();
    await assert.rejects(async () => {
      for await (const _ of answer);
    }, /aborted/);
    assert.deepEqual(
      broken.map((error) => (error as Error).message),
      ['the disk is broken'],
    );
  });
});
