import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type LoadGenerator, startLoadGenerator } from '../../bench/support/load.ts';
import type { RequestKind } from '../../bench/support/requests.ts';

const get: RequestKind = { name: 'get', weight: 3, method: 'GET', path: '/', headers: {}, status: 200, answerBytes: 3 };
const put: RequestKind = { ...get, name: 'put', weight: 1, method: 'PUT', body: Buffer.alloc(100_000), status: 201 };

describe('startLoadGenerator()', () => {
  let generator: LoadGenerator;
  const closing: (() => void)[] = [];
  before(() => {
    generator = startLoadGenerator(2);
  });
  after(() => {
    generator.close();
    for (const close of closing) close();
  });

  async function listen(answer: RequestListener): Promise<number> {
    const server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => server.close().closeAllConnections());
    return (server.address() as AddressInfo).port;
  }

  it('asks all ports for all kinds, and counts what they answered', async () => {
    const seen = [0, 0];
    const answering = (at: number): RequestListener => {
      return (request, response) => {
        request.resume().on('end', () => {
          seen[at] = (seen[at] ?? 0) + 1;
          response.writeHead(request.method === 'GET' ? 200 : 201, { 'content-length': '3' }).end('abc');
        });
      };
    };
    const ports = [await listen(answering(0)), await listen(answering(1))];
    const loaded = await generator.load({ ports, connections: 4, seconds: 0.3, kinds: [get, put] });
    assert.equal(loaded.requests, (seen[0] ?? 0) + (seen[1] ?? 0));
    assert.ok(seen.every((count) => count > 0));
    assert.equal(loaded.latencies.total, loaded.requests);
    assert.ok(loaded.requestsPerSecond > 0 && loaded.generatorBusy > 0);
  });

  it('fails for another status, another length, and a connection that is closed', async () => {
    const load = (port: number, kind: RequestKind) =>
      generator.load({ ports: [port], connections: 3, seconds: 0.1, kinds: [kind] });
    const port = await listen((request, response) => {
      if (request.url === '/closes') request.socket.destroy();
      else response.writeHead(200, { 'content-length': '3' }).end('abc');
    });
    await assert.rejects(load(port, { ...get, status: 304 }), /GET \/: expected 304 with 3 bytes, got 200 with 3/);
    await assert.rejects(load(port, { ...get, answerBytes: 4 }), /expected 200 with 4 bytes, got 200 with 3/);
    await assert.rejects(load(port, { ...get, path: '/closes' }), /GET \/closes: /);
  });
});
