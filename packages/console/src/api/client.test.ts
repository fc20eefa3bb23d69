import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError, hasCode, isAbort } from './api-error.ts';
import { createApiClient } from './client.ts';

interface Sent {
  readonly line: string;
  readonly authorization: string | null;
  readonly credentials: string | undefined;
  readonly body: unknown;
}

type Answer = { readonly status: number; readonly json?: unknown; readonly text?: string } | Error;

/** A client before a server that answers what a test says, and notes what it is asked. */
function setUp(
  answer: (line: string, times: number) => Answer,
  confirm = async (): Promise<void> => undefined,
  signInAgain = async (): Promise<void> => undefined,
) {
  const sent: Sent[] = [];
  let tokens = 0;
  const client = createApiClient({
    basePath: '/tenon/',
    clock: () => 0,
    signInAgain,
    confirm,
    fetch: async (input, init = {}) => {
      const line = `${init.method} ${String(input)}`;
      const times = sent.filter((one) => one.line === line).length;
      const headers = new Headers(init.headers);
      const body = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
      sent.push({ line, authorization: headers.get('authorization'), credentials: init.credentials, body });
      const given = line.endsWith('/session/token') ? tokenAnswer(answer(line, times)) : answer(line, times);
      if (given instanceof Error) throw given;
      if (given.text !== undefined) return new Response(given.text, { status: given.status });
      return new Response(given.json === undefined ? null : JSON.stringify(given.json), { status: given.status });
    },
  });
  function tokenAnswer(given: Answer): Answer {
    if (given instanceof Error || given.status !== 200) return given;
    const accessToken = `token-${++tokens}`;
    return { status: 201, json: { accessToken, scopes: ['read'], expiresAt: new Date(3_600_000).toISOString() } };
  }
  return { client, sent };
}

const problem = (status: number, code: string, more: object = {}): Answer => ({
  status,
  json: { type: 'about:blank', title: 'A title', status, detail: 'In words.', code, ...more },
});
const fine = (json: unknown): Answer => ({ status: 200, json });

describe('createApiClient()', () => {
  it('asks below the prefix, with a token of the session and without its cookie', async () => {
    const { client, sent } = setUp(() => fine({ name: 'x' }));
    assert.deepEqual(await client.get('/api/v1/me'), { name: 'x' });
    assert.deepEqual(await client.put('/api/v1/me', { name: 'y' }), { name: 'x' });
    assert.deepEqual(
      sent.map(({ line, authorization, credentials }) => [line, authorization, credentials]),
      [
        ['POST /tenon/session/token', null, 'same-origin'],
        ['GET /tenon/api/v1/me', 'Bearer token-1', 'omit'],
        ['PUT /tenon/api/v1/me', 'Bearer token-1', 'omit'],
      ],
    );
    assert.deepEqual(sent[2]?.body, { name: 'y' });
  });

  it('uses each prefetched response once, if it succeeded and no other user has signed in', async () => {
    const { client, sent } = setUp((line) => (line.endsWith('/b') ? problem(403, 'forbidden') : fine({ line })));
    const bearers = () => sent.splice(0).map(({ line, authorization }) => `${line} ${authorization?.slice(7)}`);
    client.prefetch(['/api/a?limit=1000', '/api/b'], 'early');
    assert.deepEqual(bearers(), ['GET /tenon/api/a?limit=1000 early', 'GET /tenon/api/b early']);
    await client.put('/api/a');
    assert.deepEqual(bearers(), ['POST /tenon/session/token undefined', 'PUT /tenon/api/a token-1']);
    assert.deepEqual(await client.get('/api/a', { query: { limit: 1000 } }), { line: 'GET /tenon/api/a?limit=1000' });
    assert.deepEqual(bearers(), []);
    await client.get('/api/a', { query: { limit: 1000 } });
    assert.deepEqual(bearers(), ['GET /tenon/api/a?limit=1000 token-1']);
    await assert.rejects(client.get('/api/b'), (error) => hasCode(error, 'forbidden'));
    assert.deepEqual(bearers(), ['GET /tenon/api/b token-1'], 'a token of the session has more scopes');
    client.prefetch(['/api/a'], 'early');
    client.forget();
    await client.get('/api/a');
    assert.equal(bearers().at(-1), 'GET /tenon/api/a token-2');
  });

  it('sends the query parameters that have a value', async () => {
    const { client, sent } = setUp(() => fine({ objects: [1], nextCursor: 'a' }));
    const page = await client.get('/api/v1/apps', { query: { q: 'x', other: undefined, limit: 50 } });
    assert.deepEqual(page, { objects: [1], nextCursor: 'a' });
    assert.equal(sent[1]?.line, 'GET /tenon/api/v1/apps?q=x&limit=50');
  });

  it('gets a new token when the one it has is refused, once', async () => {
    const healed = setUp((line, times) =>
      line.startsWith('GET') && times === 0 ? problem(401, 'invalid_token') : fine({}),
    );
    await healed.client.get('/api/v1/me');
    assert.deepEqual(
      healed.sent.map(({ authorization }) => authorization),
      [null, 'Bearer token-1', null, 'Bearer token-2'],
    );
    const dead = setUp((line) => (line.startsWith('GET') ? problem(401, 'invalid_token') : fine({})));
    await assert.rejects(dead.client.get('/api/v1/me'), (error) => hasCode(error, 'invalid_token'));
    assert.equal(dead.sent.length, 4);
  });

  it('has the person sign in again when there is no token to be had, once for all requests, and goes on', async () => {
    let asked = 0;
    const answer = (line: string, times: number): Answer =>
      line.endsWith('/session/token') && times === 0 ? problem(401, 'not_signed_in') : fine({ name: 'x' });
    const { client, sent } = setUp(answer, undefined, async () => void asked++);
    const both = [client.put('/api/v1/me', { name: 'y' }), client.get('/api/v1/me')];
    assert.deepEqual(await Promise.all(both), [{ name: 'x' }, { name: 'x' }]);
    assert.equal(asked, 1);
    assert.deepEqual(sent.map(({ line }) => line).slice(0, 2), [
      'POST /tenon/session/token',
      'POST /tenon/session/token',
    ]);
    const refusing = setUp(answer, undefined, async () => {
      throw new DOMException('no', 'AbortError');
    });
    await assert.rejects(refusing.client.put('/api/v1/me', { name: 'y' }), isAbort);
    assert.equal(refusing.sent.length, 1);
  });

  it('asks for the password where the server wants it, and repeats what was asked', async () => {
    let asked = 0;
    const { client, sent } = setUp(
      (line, times) => (line.includes('/tokens') && times === 0 ? problem(403, 'step_up_required') : fine({ id: 1 })),
      async () => void asked++,
    );
    assert.deepEqual(await client.post('/api/v1/tokens', { name: 'CI' }), { id: 1 });
    assert.equal(asked, 1);
    assert.deepEqual(
      sent.filter(({ line }) => line.includes('/tokens')).map(({ body }) => body),
      [{ name: 'CI' }, { name: 'CI' }],
    );
  });

  it('gives up quietly when the password is not entered, and loudly when it does not help', async () => {
    const refuse = (line: string): Answer => (line.includes('/tokens') ? problem(403, 'step_up_required') : fine({}));
    const cancelled = setUp(refuse, async () => {
      throw new DOMException('no', 'AbortError');
    });
    await assert.rejects(cancelled.client.post('/api/v1/tokens', {}), isAbort);
    const useless = setUp(refuse);
    await assert.rejects(useless.client.post('/api/v1/tokens', {}), (error) => hasCode(error, 'step_up_required'));
  });

  it('throws what the server says, in its words', async () => {
    const errors = [{ pointer: '/name', detail: 'Must not be empty.' }];
    const { client } = setUp((line) => (line.startsWith('PUT') ? problem(422, 'invalid_field', { errors }) : fine({})));
    const error = await client.put('/api/v1/me', { name: '' }).catch((reason: unknown) => reason);
    assert.ok(error instanceof ApiError);
    assert.deepEqual(
      { code: error.code, status: error.status, title: error.title, message: error.message, errors: error.errors },
      { code: 'invalid_field', status: 422, title: 'A title', message: 'In words.', errors },
    );
  });

  it('makes words of a gateway that has none, and of no answer at all', async () => {
    const gateway = setUp((line) =>
      line.startsWith('GET') ? { status: 502, text: '<h1>Bad gateway</h1>' } : fine({}),
    );
    await assert.rejects(gateway.client.get('/api/v1/me'), (error) => hasCode(error, 'unavailable'));
    const gone = setUp((line) => (line.startsWith('GET') ? new TypeError('Failed to fetch') : fine({})));
    await assert.rejects(gone.client.get('/api/v1/me'), (error) => hasCode(error, 'unreachable'));
  });
});
