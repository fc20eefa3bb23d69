import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import * as api from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { createClient } from '@tenon/client';
import { observeClient } from '@tenon/client/opentelemetry';
import { sampleModule } from '../packages/server/test/helpers/world.ts';
import { type SeenSpan, startTracedServer, type TracedServer } from './helpers/traced-server.ts';

const listRoute = '/api/v1/extension-points/:extensionPointId/bindings/*';
const [internal, ofServer, ofClient] = [1, 2, 3];
const callersTrace = '0af7651916cd43dd8448eb211c80319c';
const callersSpan = 'b7ad6b7169203331';
const traceparent = `00-${callersTrace}-${callersSpan}-01`;

const withNothing = ({ attributes }: SeenSpan): void => assert.equal(attributes.get('error.type'), undefined);

describe('the traces of requests', () => {
  let traced: TracedServer;
  let list: string;
  before(async () => {
    traced = await startTracedServer({ OTEL_SERVICE_NAME: 'plugins', OTEL_RESOURCE_ATTRIBUTES: 'team=a%20b' });
    const { TENON_EXTENSION_POINT_ID, TENON_GUEST_KEY = '' } = traced.quickstart;
    list = `/api/v1/extension-points/${TENON_EXTENSION_POINT_ID}/bindings/${encodeURIComponent(TENON_GUEST_KEY)}`;
  });
  after(() => traced.close());

  /** The sample with a custom section, so that no two are alike. */
  const moduleNumber = (number: number) => new Uint8Array([...sampleModule, 0, 3, 1, 0x78, number]);
  const publish = (name: string, body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => {
    const { TENON_EXTENSION_POINT_ID, TENON_USER_ID } = traced.quickstart;
    return traced.call(`/api/v1/artifacts/${TENON_EXTENSION_POINT_ID}/plugin/${TENON_USER_ID}/${name}`, {
      method: 'PUT',
      body,
      headers: { 'content-type': 'application/wasm', ...headers },
    });
  };
  const signIn = () =>
    fetch(`${traced.server.url}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: traced.server.url },
      body: JSON.stringify({ email: traced.quickstart.TENON_EMAIL, password: traced.quickstart.TENON_PASSWORD }),
    });

  it('hang below the caller, are named after the route, and hold what was asked of the store', async () => {
    const answer = await traced.call(list, { headers: { traceparent } });
    assert.equal(answer.status, 200);
    const { root, spans, namesWithin } = await traced.traceOf(answer);
    assert.equal(root.name, `GET ${listRoute}`);
    assert.equal(root.kind, ofServer);
    assert.equal(root.traceId, callersTrace);
    assert.equal(root.parentSpanId, callersSpan);
    assert.deepEqual(
      new Map([...root.attributes].filter(([key]) => key.startsWith('http.'))),
      new Map([
        ['http.request.method', 'GET'],
        ['http.route', listRoute],
        ['http.response.status_code', '200'],
      ]),
    );
    assert.ok(namesWithin(root).includes('store.read.bindings'), String(namesWithin(root)));
    for (const span of spans) {
      assert.equal(span.traceId, callersTrace);
      assert.ok(span.startNano >= root.startNano && span.startNano <= span.endNano);
      withNothing(span);
      if (span !== root) assert.equal(span.attributes.get('db.system.name'), 'sqlite');
    }
    assert.ok(Math.abs(Number(root.startNano / 1_000_000n) - Date.now()) < 60_000);
  });

  it('continue with the trace of a host whose client tells of its spans', async (test) => {
    const provider = new BasicTracerProvider({ spanProcessors: [] });
    api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    test.after(() => api.propagation.disable());
    const { TENON_TOKEN: token = '', TENON_EXTENSION_POINT_ID = '', TENON_GUEST_KEY = '' } = traced.quickstart;
    const client = createClient({ baseUrl: traced.server.url, token, streaming: false });
    const reported: string[] = [];
    client.on('response', ({ headers }) => reported.push(headers.traceparent ?? ''));
    observeClient(client, { tracer: provider.getTracer('host'), api });
    await client.getBindings({ extensionPointId: TENON_EXTENSION_POINT_ID, guestKey: TENON_GUEST_KEY });
    await client.close();
    const [, traceId, spanId] = reported[0]?.split('-') ?? [];
    const isOurs = (span: SeenSpan) =>
      span.traceId === traceId && span.parentSpanId === spanId && span.kind === ofServer;
    await traced.spansWith((spans) => spans.some(isOurs));
  });

  it('tell of a list from memory that it was', async () => {
    await (await traced.call(list)).bytes();
    const answer = await traced.call(list, { headers: { traceparent } });
    const { root, spans } = await traced.traceOf(answer);
    assert.equal(root.name, `GET ${listRoute}`);
    assert.equal(root.parentSpanId, callersSpan);
    assert.equal(root.attributes.get('http.response.status_code'), '200');
    assert.equal(root.attributes.get('tenon.cache_hit'), true);
    assert.deepEqual(spans, [root]);
  });

  it('tell of a publish what threads, blobs and the transaction did', async () => {
    const answer = await publish('traced', moduleNumber(1));
    assert.equal(answer.status, 201, await answer.clone().text());
    const { root, spans, namesWithin } = await traced.traceOf(answer);
    assert.equal(root.parentSpanId, '');
    const one = (name: string) => spans.find((span) => span.name === name) ?? assert.fail(`no ${name}`);
    assert.ok(namesWithin(root).includes('modules.check'));
    const wait = Number(one('modules.check').attributes.get('tenon.task.wait_seconds'));
    assert.ok(wait >= 0 && wait < 60);
    assert.equal(one('blobs.put').kind, ofClient);
    assert.equal(one('blobs.put').attributes.get('tenon.blobs.kind'), 'folder');
    assert.equal(Number(one('blobs.put').attributes.get('tenon.blobs.bytes')), moduleNumber(1).length);
    const insert = one('store.transaction.insertVersion');
    assert.equal(insert.attributes.get('db.operation.name'), 'insertVersion');
    const attempt = spans.find(({ spanId }) => spanId === insert.parentSpanId) ?? assert.fail();
    assert.deepEqual([attempt.name, attempt.kind], ['store.attempt', internal]);
    const write = spans.find(({ spanId }) => spanId === attempt.parentSpanId) ?? assert.fail();
    assert.equal(write.name, 'store.write');
    assert.equal(Number(write.attributes.get('tenon.store.attempts')), 1);
  });

  it('tell of reading a content, and of looking at a password', async () => {
    const published = (await (await publish('read', moduleNumber(2))).json()) as { contentAddress: string };
    const content = await traced.call(`/api/v1/c/${published.contentAddress}`);
    assert.deepEqual(await content.bytes(), moduleNumber(2));
    const { spans } = await traced.traceOf(content);
    const read = spans.find(({ name }) => name === 'blobs.read');
    assert.equal(Number(read?.attributes.get('tenon.blobs.bytes')), moduleNumber(2).length);
    const session = await signIn();
    assert.equal(session.status, 200);
    const { root, namesWithin } = await traced.traceOf(session);
    assert.ok(namesWithin(root).includes('passwords.verify'));
  });

  it('tell by a code what was refused, and call an error only what the server failed at', async () => {
    const refused = await traced.traceOf(
      await traced.call(list, { headers: { authorization: 'Bearer tnn_nobody', traceparent } }),
    );
    assert.equal(refused.root.attributes.get('tenon.error.code'), 'invalid_token');
    assert.equal(refused.root.isError, false);
    withNothing(refused.root);
    const lost = await traced.traceOf(await traced.call('/nothing/here'));
    assert.equal(lost.root.name, 'GET');
    assert.equal(lost.root.attributes.get('tenon.error.code'), 'not_found');
    assert.equal(lost.root.attributes.has('http.route'), false);
    const bad = await traced.traceOf(await publish('bad', new Uint8Array([1, 2, 3])));
    assert.equal(bad.root.attributes.get('http.response.status_code'), '422');
    assert.equal(bad.root.isError, false);
    const odd = await traced.traceOf(await traced.call('/healthz', { method: 'PATCH' }));
    assert.equal(odd.root.attributes.get('tenon.error.code'), 'method_not_allowed');
  });

  it('end with a client that goes, and say so', async () => {
    const { TENON_APP_ID, TENON_TOKEN } = traced.quickstart;
    const id = 'a-client-that-goes';
    const socket = connect(traced.server.port, '127.0.0.1');
    socket.write(
      `GET /api/v1/apps/${TENON_APP_ID}/changes HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TENON_TOKEN}\r\nx-request-id: ${id}\r\n\r\n`,
    );
    socket.once('data', () => socket.destroy());
    const has = ({ attributes }: SeenSpan) => attributes.get('tenon.request.id') === id;
    const spans = await traced.spansWith((all) => all.some(has));
    const span = spans.find(has) ?? assert.fail();
    assert.equal(span.attributes.get('tenon.client_disconnected'), true);
    assert.equal(span.attributes.get('http.response.status_code'), '200');
  });

  it('keep apart what happens at the same time', async () => {
    const asks = [
      ['/api/v1/apps', 'store.read.appsOf'],
      [`/api/v1/apps/${traced.quickstart.TENON_APP_ID}/guests`, 'store.read.guests'],
      ['/api/v1/tokens', 'store.read.tokens'],
    ] as const;
    const telling = new Set<string>(asks.map(([, name]) => name));
    const together = Array.from({ length: 30 }, async (_, at) => {
      const [path, name] = asks[at % asks.length] ?? assert.fail();
      const traceId = String(at + 1).padStart(32, '0');
      const answer = await traced.call(path, { headers: { traceparent: `00-${traceId}-${callersSpan}-01` } });
      await answer.bytes();
      const { root, spans, namesWithin } = await traced.traceOf(answer);
      assert.deepEqual([...new Set(spans.map((span) => span.traceId))], [traceId]);
      assert.deepEqual(
        namesWithin(root).filter((one) => telling.has(one)),
        [name],
      );
    });
    await Promise.all(together);
    // Nothing has strayed: whatever is within a span is within one that came.
    await traced.spansWith((all) => {
      const ids = new Set(all.map(({ spanId }) => spanId));
      return all.every(({ kind, parentSpanId }) => kind === ofServer || ids.has(parentSpanId));
    });
  });

  it('are named in the lines of the log', async () => {
    const id = 'a-line-in-the-log';
    const answer = await publish('logged', moduleNumber(3), { traceparent, 'x-request-id': id });
    const { root } = await traced.traceOf(answer);
    const line = traced.lines.find(({ requestId }) => requestId === id) ?? assert.fail();
    assert.equal(line.traceId, callersTrace);
    assert.equal(line.spanId, root.spanId);
    assert.equal(line.msg, 'request completed');
  });

  it('have no span of probes that are answered well, and one of those that are not', async () => {
    const well = await Promise.all(['/healthz', '/readyz'].map((path) => traced.call(path)));
    assert.deepEqual(
      well.map(({ status }) => status),
      [200, 200],
    );
    await rm(join(traced.dataDir, 'blobs'), { recursive: true });
    const id = 'a-server-that-is-not-ready';
    const answer = await traced.call('/readyz', { headers: { 'x-request-id': id } });
    assert.equal(answer.status, 503);
    const { root } = await traced.traceOf(answer);
    assert.equal(root.name, 'GET /readyz');
    assert.equal(root.isError, true);
    assert.equal(root.attributes.get('error.type'), 'unavailable');
    const ids = well.map(({ headers }) => headers.get('x-request-id'));
    const all = await traced.spansWith(() => true);
    assert.ok(!all.some(({ attributes }) => ids.includes(String(attributes.get('tenon.request.id')))));
    const errors = traced.lines.filter(({ level }) => Number(level) >= 50);
    assert.ok(errors.length > 0);
    for (const line of errors) assert.equal(line.requestId, id, JSON.stringify(line));
  });

  it('say where they come from', () => {
    const [{ message, path } = assert.fail()] = traced.collector.received;
    assert.equal(path, '/v1/traces');
    const { attributes } = message.resourceSpans[0].resource;
    const of = (key: string) => attributes.find((one: { key: string }) => one.key === key)?.value.stringValue;
    assert.equal(of('service.name'), 'plugins');
    assert.equal(of('team'), 'a b');
    assert.match(of('service.instance.id'), /^[0-9a-f-]{36}$/);
    assert.deepEqual(message.resourceSpans[0].scopeSpans[0].scope.name, '@tenon/server');
  });

  it('hold nothing that is private, wherever a client puts it', async () => {
    const { quickstart } = traced;
    const marks = [
      'user-agent-mark',
      'cookie-mark',
      'state-mark',
      'query-mark',
      'body-mark',
      'path-mark',
      'baggage-mark',
    ];
    const answer = await traced.call(`/api/v1/apps/${quickstart.TENON_APP_ID}/guests?query-mark=query-mark`, {
      method: 'POST',
      headers: {
        'user-agent': 'user-agent-mark',
        cookie: 'tenon=cookie-mark',
        traceparent,
        tracestate: 'tenant=state-mark',
        baggage: 'tenant=baggage-mark',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ deliveryMethod: 'link', guestKey: 'body-mark' }),
    });
    await traced.traceOf(answer);
    await traced.traceOf(await traced.call('/path-mark/path-mark?query-mark'));
    await traced.traceOf(await traced.call(`/invite/path-mark`));
    const reported = JSON.stringify(traced.collector.received.map(({ message }) => message));
    assert.ok(reported.includes('store.read.bindings'));
    const secrets = [
      'TENON_TOKEN',
      'TENON_API_KEY',
      'TENON_GUEST_KEY',
      'TENON_EMAIL',
      'TENON_PASSWORD',
      'TENON_USER_ID',
      'TENON_APP_ID',
      'TENON_EXTENSION_POINT_ID',
    ].map((name) => quickstart[name] ?? assert.fail(name));
    for (const secret of [...secrets, ...secrets.map(encodeURIComponent), ...marks])
      assert.ok(!reported.includes(secret), secret);
  });
});
