import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { type Callback, type LoopbackListener, listenOnLoopback } from './loopback-listener.ts';

const expected = { state: 'the state', issuer: 'https://plugins.example.org/tenon' };
const right = { code: 'the code', state: expected.state, iss: expected.issuer };

interface Waiting {
  readonly listener: LoopbackListener;
  readonly received: Promise<Callback>;
  readonly stop: AbortController;
}

async function listening(t: TestContext): Promise<Waiting> {
  const listener = await listenOnLoopback();
  t.after(listener.close);
  const stop = new AbortController();
  const received = listener.receive(expected, stop.signal);
  received.catch(() => {}); // each test looks at it when it is its turn
  return { listener, received, stop };
}

interface Shown {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Asks as a browser does; `fetch` would not let a test choose the host. */
function visit(
  { listener }: Waiting,
  parameters: Record<string, string> | string,
  { method = 'GET', path = '/callback', host }: { method?: string; path?: string; host?: string } = {},
): Promise<Shown> {
  const { hostname, port, host: own } = new URL(listener.redirectUri);
  const query = typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString();
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, method, path: `${path}?${query}`, headers: { host: host ?? own } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
      },
    );
    sent.on('error', reject).end();
  });
}

describe('listenOnLoopback()', () => {
  it('takes the answer with the right state and issuer', async (t) => {
    const waiting = await listening(t);
    assert.match(waiting.listener.redirectUri, /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const { status, text } = await visit(waiting, right);
    assert.equal(status, 200);
    assert.match(text, /Approved/);
    assert.deepEqual(await waiting.received, { code: 'the code' });
  });

  it('shows a page that runs and loads nothing, and leaves its address nowhere', async (t) => {
    const waiting = await listening(t);
    const { headers, text } = await visit(waiting, right);
    const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(text) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    assert.equal(
      headers['content-security-policy'],
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers.connection, 'close');
    assert.doesNotMatch(text, /<script|src=|href=|the code|the state/);
  });

  it('goes on waiting after what is not for it', async (t) => {
    const waiting = await listening(t);
    for (const [expectedStatus, parameters, options] of [
      [400, { ...right, state: 'another state' }, {}],
      [400, { ...right, state: `${expected.state} and more` }, {}],
      [400, { code: 'the code', iss: expected.issuer }, {}],
      [400, { error: 'access_denied' }, {}],
      [400, `${new URLSearchParams(right)}&state=another`, {}],
      [400, `${new URLSearchParams(right)}&code=another`, {}],
      [404, right, { path: '/' }],
      [404, right, { path: '/callback/' }],
      [404, right, { path: '/favicon.ico' }],
      [404, right, { method: 'POST' }],
      [404, right, { host: 'evil.example' }],
      [404, right, { host: `localhost:${new URL(waiting.listener.redirectUri).port}` }],
    ] as const) {
      const { status, headers } = await visit(waiting, parameters, options);
      assert.equal(status, expectedStatus, JSON.stringify([parameters, options]));
      assert.match(String(headers['content-security-policy']), /^default-src 'none'/);
    }
    assert.equal((await visit(waiting, right)).status, 200);
    assert.deepEqual(await waiting.received, { code: 'the code' });
  });

  it('takes one answer, and no other after it', async (t) => {
    const waiting = await listening(t);
    await visit(waiting, right);
    assert.equal((await visit(waiting, right)).status, 404);
    assert.equal((await visit(waiting, { ...right, code: 'another code' })).status, 404);
    assert.deepEqual(await waiting.received, { code: 'the code' });
  });

  it('hands on an error, and says in the browser that it was denied', async (t) => {
    const waiting = await listening(t);
    const { state, iss } = right;
    const { status, text } = await visit(waiting, { error: 'access_denied', error_description: 'No.', state, iss });
    assert.equal(status, 200);
    assert.match(text, /<h1>Denied/);
    assert.deepEqual(await waiting.received, { error: 'access_denied', description: 'No.' });
  });

  it('ends with an answer from another issuer, or from none', async (t) => {
    for (const iss of ['https://plugins.example.org', 'https://evil.example', undefined]) {
      const waiting = await listening(t);
      const parameters = { code: right.code, state: right.state, ...(iss === undefined ? {} : { iss }) };
      assert.equal((await visit(waiting, parameters)).status, 400);
      await assert.rejects(waiting.received, { code: 'issuer_mismatch' });
      assert.equal((await visit(waiting, right)).status, 404);
    }
  });

  it('ends with an answer that is neither a code nor an error', async (t) => {
    const { state, iss } = right;
    for (const parameters of [
      { state, iss },
      { ...right, error: 'access_denied' },
      { ...right, code: '' },
    ]) {
      const waiting = await listening(t);
      assert.equal((await visit(waiting, parameters)).status, 400);
      await assert.rejects(waiting.received, { code: 'unexpected_response' });
    }
  });

  it('is not delayed by a connection that sends nothing', async (t) => {
    const waiting = await listening(t);
    const { hostname, port } = new URL(waiting.listener.redirectUri);
    const slow = [0, 1, 2].map(() => connect(Number(port), hostname));
    for (const socket of slow) socket.on('error', () => {}).write('GET /callback?state=');
    assert.equal((await visit(waiting, right)).status, 200);
    await waiting.received;
    await waiting.listener.close();
    await Promise.all(
      slow.map((socket) => socket.destroyed || new Promise((resolve) => socket.once('close', resolve))),
    );
  });

  it('stops with the reason that the signal gives', async (t) => {
    const { received, stop, listener } = await listening(t);
    const reason = new Error('enough');
    stop.abort(reason);
    await assert.rejects(received, reason);
    await assert.rejects(listener.receive(expected, stop.signal), reason);
  });
});
