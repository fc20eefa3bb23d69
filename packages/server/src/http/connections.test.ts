import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { until } from '../../../../test/helpers/until.ts';
import { sequentialRequests } from './connections.ts';

describe('sequentialRequests', () => {
  let server: Server;
  let served: { readonly url: string | undefined; readonly response: ServerResponse }[] = [];
  before(async () => {
    server = createServer(sequentialRequests(({ url }, response) => void served.push({ url, response })));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  beforeEach(() => {
    served = [];
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const send = (count: number): Socket => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const requests = Array.from({ length: count }, (_, index) => `GET /${index} HTTP/1.1\r\nhost: x\r\n\r\n`);
    socket.on('error', () => {}).write(requests.join(''));
    return socket;
  };
  const untilServed = (count: number) =>
    until(() => served.length >= count, { message: () => `${served.length} requests were served, not ${count}` });

  it('handles pipelined requests one after another', async () => {
    const socket = send(50);
    const responses = socket.setEncoding('latin1').toArray() as Promise<string[]>;
    for (let turn = 0; turn < 50; turn++) {
      await untilServed(turn + 1);
      assert.equal(served.length, turn + 1);
      assert.equal(served[turn]?.url, `/${turn}`);
      served[turn]?.response.end(`answer ${turn}`);
    }
    socket.end();
    const bodies = (await responses).join('').match(/answer \d+/g);
    assert.deepEqual(
      bodies,
      Array.from({ length: 50 }, (_, turn) => `answer ${turn}`),
    );
  });

  it('drops waiting requests of a client that has disconnected', async () => {
    const gone = send(3);
    await untilServed(1);
    gone.resetAndDestroy();
    const { response } = served[0] ?? assert.fail();
    await once(response, 'close');
    const socket = send(1);
    await untilServed(2);
    assert.deepEqual(
      served.map(({ url }) => url),
      ['/0', '/0'],
    );
    socket.destroy();
  });

  it('closes a connection with too many pipelined requests', async () => {
    const socket = send(1000).resume();
    await once(socket, 'close');
    assert.ok(served.length <= 1);
  });
});
