import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { fetchIssuerJson, IssuerFetchError, type IssuerFetchOptions } from './issuer-fetch.ts';

describe('fetchIssuerJson()', () => {
  let server: Server;
  let listener: RequestListener;
  let requests = 0;
  let url: string;
  before(async () => {
    server = createServer((request, response) => {
      requests++;
      listener(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  const fetchWith = (answer: RequestListener, options: Partial<IssuerFetchOptions> = {}, at = url) => {
    listener = answer;
    return fetchIssuerJson(new URL(at), { maxBytes: 1000, timeoutMs: 300, mayBePrivate: true, ...options });
  };
  const assertFails = (work: Promise<unknown>) => assert.rejects(work, IssuerFetchError);

  it('reads JSON of an issuer that the operator trusts', async () => {
    assert.deepEqual(await fetchWith((_request, response) => void response.end('{"keys":[]}')), { keys: [] });
  });

  it('follows no redirect', async () => {
    const before = requests;
    await assertFails(fetchWith((_request, response) => void response.writeHead(302, { location: '/other' }).end()));
    assert.equal(requests, before + 1);
  });

  it('ends with too many bytes, after the time-out, and without JSON', async () => {
    await assertFails(fetchWith((_request, response) => void response.end(`"${'x'.repeat(2000)}"`)));
    await assertFails(fetchWith(() => {}));
    await assertFails(
      fetchWith((_request, response) => {
        const timer = setInterval(() => response.write(' '), 50);
        response.once('close', () => clearInterval(timer));
      }),
    );
    await assertFails(fetchWith((_request, response) => void response.end('<html>')));
    await assertFails(fetchWith((request) => void request.socket.destroy()));
  });

  it('connects to no private address, whatever names it', async () => {
    const before = requests;
    const options = { mayBePrivate: false };
    const port = new URL(url).port;
    const answer: RequestListener = (_request, response) => void response.end('{}');
    await assertFails(fetchWith(answer, options));
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost', '2130706433', '0x7f.1'])
      await assertFails(fetchWith(answer, options, `https://${host}:${port}/`));
    const resolvesTo = (...found: string[]) => {
      const addresses: LookupAddress[] = found.map((address) => ({ address, family: 4 }));
      const lookup = ((_host: string, _options: object, callback: (error: null, found: LookupAddress[]) => void) =>
        callback(null, addresses)) as never;
      return { ...options, lookup };
    };
    const at = `https://ci.example.org:${port}/`;
    await assertFails(fetchWith(answer, resolvesTo('127.0.0.1'), at));
    await assertFails(fetchWith(answer, resolvesTo('8.8.8.8', '127.0.0.1'), at));
    await assertFails(fetchWith(answer, resolvesTo(), at));
    assert.equal(requests, before);
  });
});
