import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type AppId, type ContentAddress, type ExtensionPointId, newId } from '@tenon/protocol';
import { openSource, type Source, SourceError } from './source.ts';

const token = 'tnn_secret';
const { signal } = new AbortController();
const appId: AppId = newId('app');
const point: ExtensionPointId = newId('extensionPoint');
const address = 'A'.repeat(43) as ContentAddress;

const json = (body: unknown) => (_: IncomingMessage, response: ServerResponse) =>
  void response.end(JSON.stringify(body));

/** A page of applications with another cursor each time. */
function endlessPages({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const at = Number(/cursor=(\d+)/.exec(url)?.[1] ?? 0);
  response.end(JSON.stringify({ objects: [], nextCursor: String(at + 1) }));
}

/** Sends a body without an end. */
function endless(response: ServerResponse): void {
  const chunk = 'x'.repeat(65_536);
  const send = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', send).on('error', () => {});
  send();
}

const drain = async (pages: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of pages);
};

describe('openSource() with a hostile source', () => {
  let server: Server;
  let source: Source;
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  const requested: string[] = [];

  before(async () => {
    server = createServer((request, response) => {
      requested.push(request.url ?? '');
      answer(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    source = openSource(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => token);
  });
  after(() => {
    source.close();
    server.close();
    server.closeAllConnections();
  });

  const cases: readonly {
    readonly it: string;
    readonly answer: typeof answer;
    readonly ask: () => Promise<unknown>;
    readonly kind: SourceError['kind'];
    readonly message: RegExp;
  }[] = [
    {
      it: 'refuses pages without an end',
      answer: endlessPages,
      ask: () => drain(source.apps(signal)),
      ...{ kind: 'invalid', message: /more than 10000 objects/ },
    },
    {
      it: 'refuses a repeated page',
      answer: json({ objects: [], nextCursor: 'same' }),
      ask: () => drain(source.apps(signal)),
      ...{ kind: 'invalid', message: /repeated a page/ },
    },
    {
      it: 'refuses a content larger than its version',
      answer: (_, response) => endless(response),
      ask: () => source.content(address, 100, signal),
      ...{ kind: 'invalid', message: /more than 100 bytes/ },
    },
    {
      it: 'refuses a content with another digest',
      answer: (_, response) => void response.end('other'),
      ask: () => source.content(address, 100, signal),
      ...{ kind: 'invalid', message: /does not have its digest/ },
    },
    {
      it: 'refuses a list with another digest',
      answer: (_, response) => void response.writeHead(200, { etag: '"other"' }).end('{}'),
      ask: () => source.bindings(point, 'k', '"x"', signal),
      ...{ kind: 'invalid', message: /does not have its digest/ },
    },
    {
      it: 'refuses ids that are paths',
      answer: json({ objects: [{ id: '../../tokens', name: 'a', role: 'viewer', createdAt: '', updatedAt: '' }] }),
      ask: () => drain(source.apps(signal)),
      ...{ kind: 'invalid', message: /is not valid: \/objects\/0/ },
    },
    {
      it: 'refuses deeply nested JSON',
      answer: (_, response) => void response.end('['.repeat(1_000_000)),
      ask: () => drain(source.apps(signal)),
      ...{ kind: 'invalid', message: /not JSON/ },
    },
    {
      it: 'refuses a response without the fields of an older release',
      answer: json({ objects: [{ id: appId, name: 'a' }] }),
      ask: () => drain(source.apps(signal)),
      ...{ kind: 'invalid', message: /is not valid/ },
    },
  ];
  for (const each of cases) {
    it(each.it, async () => {
      answer = each.answer;
      await assert.rejects(each.ask(), (error: unknown) => {
        assert.ok(error instanceof SourceError);
        assert.equal(error.kind, each.kind);
        assert.match(error.message, each.message);
        assert.doesNotMatch(JSON.stringify([error, error.message, String(error.cause), error.stack]), /tnn_secret/);
        return true;
      });
    });
  }

  it('follows no redirect, so that no other server gets the token or a request', async () => {
    answer = (_, response) => void response.writeHead(307, { location: '/elsewhere' }).end();
    await assert.rejects(source.app(appId, signal), { kind: 'invalid', message: /status 307/ });
    assert.ok(!requested.includes('/elsewhere'));
  });

  it('is not held up by errors whose bodies have no end', async () => {
    answer = (_, response) => endless(response.writeHead(404));
    const asks = Array.from({ length: 40 }, () => source.app(appId, signal));
    for (const result of await Promise.allSettled(asks)) assert.equal(result.status, 'rejected');
  });
});
