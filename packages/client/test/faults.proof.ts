import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Client, createClient } from '@tenon/client';
import { type FaultProxy, openFaultProxy } from '../../../test/helpers/fault-proxy.ts';
import { createRandom } from '../../../test/helpers/random.ts';
import { until } from '../../../test/helpers/until.ts';
import { type ResponseFault, responseFault } from './helpers/faults.ts';
import { addressOf, type NumberedModule, numberedModule } from './helpers/numbered-module.ts';
import { openStage, type Stage } from './helpers/stage.ts';

/** The result of a fault without a cached list: the code, or `well`. */
interface Case {
  readonly name: string;
  readonly fault: ResponseFault;
  readonly list: string;
  readonly content: string;
}

const both = (name: string, fault: ResponseFault, code: string): Case => ({ name, fault, list: code, content: code });
const page = '<!doctype html><title>Sign in</title>';

const cases: readonly Case[] = [
  both('a reset before the response', { kind: 'refuse' }, 'network'),
  both('a reset after the headers', { kind: 'reset', after: 'fields' }, 'network'),
  both('a reset in the middle of the body', { kind: 'reset', after: 'half' }, 'network'),
  both('a connection closed without a response', { kind: 'close' }, 'network'),
  both('bytes that are not HTTP', { kind: 'garbage' }, 'network'),
  both('a wrong content coding', { kind: 'coding' }, 'network'),
  both('no response', { kind: 'hang' }, 'timeout'),
  both('a body that stops', { kind: 'stall' }, 'timeout'),
  both('a late response', { kind: 'late', ms: 20 }, 'well'),
  both('a slow response', { kind: 'dribble', pieces: 20, everyMs: 2 }, 'well'),
  both('half a body with the whole length', { kind: 'truncate', framing: 'content-length' }, 'network'),
  both('half a body in chunks without the last one', { kind: 'truncate', framing: 'chunked' }, 'network'),
  both('half a body without a length', { kind: 'truncate', framing: 'close' }, 'content_mismatch'),
  both('half a body with half a length', { kind: 'truncate', framing: 'shortened' }, 'content_mismatch'),
  both('a wrong bit', { kind: 'bit' }, 'content_mismatch'),
  both('an endless body', { kind: 'endless' }, 'too_large'),
  both('500', { kind: 'status', status: 500 }, 'internal'),
  both("a proxy's 502", { kind: 'status', status: 502, page: true }, 'unavailable'),
  both('503 for a second', { kind: 'status', status: 503, retryAfter: '1' }, 'unavailable'),
  both('429', { kind: 'status', status: 429 }, 'rate_limited'),
  both(
    '429 until a date',
    { kind: 'status', status: 429, retryAfter: 'Fri, 01 Jan 2100 00:00:00 GMT' },
    'rate_limited',
  ),
  both('401', { kind: 'status', status: 401 }, 'invalid_token'),
  both('403', { kind: 'status', status: 403 }, 'forbidden'),
  both("a proxy's 404", { kind: 'status', status: 404, page: true }, 'unexpected_response'),
  both('a redirect', { kind: 'redirect', status: 302, location: 'http://127.0.0.1:1/' }, 'redirected'),
  both('an unrequested 304', { kind: 'notModified', etag: '"a"' }, 'unexpected_response'),
  {
    name: "a captive portal's page",
    fault: { kind: 'body', contentType: 'text/html', body: page },
    list: 'unexpected_response',
    content: 'content_mismatch',
  },
  {
    name: 'an array',
    fault: { kind: 'body', contentType: 'application/json', body: '[]' },
    list: 'unexpected_response',
    content: 'content_mismatch',
  },
  both('another entity tag', { kind: 'etag', value: '"another"' }, 'well'),
  both('no entity tag', { kind: 'etag', value: undefined }, 'well'),
];

describe('createClient() with each fault', () => {
  const random = createRandom(1);
  let number = 0;
  let stage: Stage;
  let proxy: FaultProxy;

  before(async () => {
    stage = await openStage();
    proxy = await openFaultProxy(stage.url);
    await stage.invite('a guest');
    await publish();
  });
  after(async () => {
    await proxy?.close();
    await stage?.close();
  });

  async function publish(): Promise<NumberedModule> {
    const module = numberedModule(++number, random, 3000);
    await stage.publish('a guest', 'plugin', module);
    return module;
  }

  /** Short timeouts only for faults that time out: other tests must not depend on the speed of the machine. */
  const open = (token = stage.token, limitMs = 60_000): Client =>
    createClient({
      baseUrl: proxy.url,
      token,
      streaming: false,
      maxAgeMs: 0,
      revalidateTimeoutMs: 60_000,
      timeouts: { headersMs: limitMs, idleMs: limitMs },
      retry: { maxRetries: 0, maxRetryAfterMs: 0 },
      limits: { maxListBytes: 1_000_000, maxContentBytes: 1_000_000 },
    });
  const codeOf = (call: Promise<unknown>) => call.then(() => 'well').catch((error) => error.code ?? error);

  for (const { name, fault, list, content } of cases) {
    it(`after ${name} rejects with ${list === content ? list : `${list} or ${content}`}, or serves its cache`, async () => {
      const lookUp = (client: Client) =>
        client.getBindings({ extensionPointId: stage.extensionPointId, guestKey: 'a guest' });
      const limitMs = list === 'timeout' ? 200 : undefined;
      const [empty, holding] = [open(stage.token, limitMs), open(stage.token, limitMs)];
      const before = await holding.loadPlugin({ extensionPointId: stage.extensionPointId, guestKey: 'a guest' });
      const { address } = await publish(); // so that the response has a body

      proxy.inject(responseFault(fault));
      assert.equal(await codeOf(lookUp(empty)), list);
      assert.equal(await codeOf(open(stage.token, limitMs).getContent(address)), content);
      const served = await holding.loadPlugin({ extensionPointId: stage.extensionPointId, guestKey: 'a guest' });
      assert.equal(served.contentAddress, list === 'well' ? address : before.contentAddress);
      assert.equal(served.isStale, list !== 'well');
      assert.equal(served.error?.code, list === 'well' ? undefined : list);
      assert.equal(addressOf(await holding.getContent(before.contentAddress)), before.contentAddress);

      proxy.inject(undefined);
      await Promise.all([empty.close(), holding.close()]);
    });
  }

  it('serves its cache, stale, when the token is revoked', async () => {
    const { token, revoke } = await stage.issueToken();
    const client = open(token);
    const loaded = await client.load({ extensionPointId: stage.extensionPointId, guestKey: 'a guest' });
    await revoke();
    const served = await client.loadPlugin({ extensionPointId: stage.extensionPointId, guestKey: 'a guest' });
    assert.equal(served.module, loaded);
    assert.equal(served.isStale, true);
    assert.equal(served.error?.code, 'invalid_token');
    assert.equal(
      await codeOf(open(token).load({ extensionPointId: stage.extensionPointId, guestKey: 'a guest' })),
      'invalid_token',
    );
    await client.close();
  });

  it('serves its cache while the server is down, and revalidates once it is up', async () => {
    const client = open();
    await client.load({ extensionPointId: stage.extensionPointId, guestKey: 'a guest' });
    await proxy.goDown();
    const served = await client.loadPlugin({ extensionPointId: stage.extensionPointId, guestKey: 'a guest' });
    assert.equal(served.isStale, true);
    assert.equal(served.error?.code, 'network');
    await proxy.comeUp();
    await until(
      async () =>
        !(await client.getBindings({ extensionPointId: stage.extensionPointId, guestKey: 'a guest' })).isStale,
    );
    await client.close();
  });
});
