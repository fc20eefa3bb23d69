import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { type Meter, observeClient, type PropagationApi, type Tracer } from '@tenon/client/opentelemetry';
import {
  addressOfBytes,
  createFakeServer,
  key,
  listResponse,
  noConnection,
  openClient,
} from '../test/helpers/fake-server.ts';

type Equips<Given extends Needed, Needed> = Given;
/** The types accept OpenTelemetry's own. */
export type Checked = [Equips<api.Meter, Meter>, Equips<api.Tracer, Tracer>, Equips<typeof api, PropagationApi>];

describe('observeClient()', () => {
  it('starts a span for each request, as a child of the active one', async (test) => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const tracer = provider.getTracer('test');
    api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    test.after(() => api.context.disable());
    const { client, clock } = openClient(
      createFakeServer(() => listResponse({})),
      { maxAgeMs: 0 },
    );
    const end = observeClient(client, { tracer });

    const visit = tracer.startSpan('visit');
    await api.context.with(api.trace.setSpan(api.context.active(), visit), () => client.getBindings(key));
    const failing = openClient(createFakeServer(noConnection));
    observeClient(failing.client, { tracer });
    await failing.client.getBindings(key).catch(() => {});
    end();
    await client.getBindings(key);

    const spans = exporter.getFinishedSpans();
    assert.equal(spans.length, 2);
    const [good, bad] = spans;
    const name = 'GET /api/v1/extension-points/{extensionPointId}/bindings/{guestKey}';
    assert.equal(good?.name, name);
    assert.equal(good.parentSpanContext?.spanId, visit.spanContext().spanId);
    assert.deepEqual(good.attributes, {
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'url.template': name.slice(4),
    });
    assert.equal(good.startTime[0] * 1000, Math.floor(clock.wallMs() / 1000) * 1000);
    assert.equal(bad?.attributes['error.type'], 'network');
    assert.equal(bad.status.code, 2);
    assert.doesNotMatch(JSON.stringify(spans.map(({ name, attributes }) => [name, attributes])), /acme/);
  });

  it('sends the trace context of the host’s propagator, and none of its other fields', async (test) => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
    api.propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
    test.after(() => {
      api.context.disable();
      api.propagation.disable();
    });
    const server = createFakeServer(() => listResponse({}));
    const { client } = openClient(server, { maxAgeMs: 0 });
    const tracer = provider.getTracer('test');
    const end = observeClient(client, { tracer, api });
    const baggage = api.propagation.createBaggage({ tenant: { value: 'private' } });
    await api.context.with(api.propagation.setBaggage(api.context.active(), baggage), () => client.getBindings(key));
    end();
    observeClient(client, { tracer });
    await client.getBindings(key);
    const [span] = exporter.getFinishedSpans();
    const { traceId, spanId } = span?.spanContext() ?? assert.fail();
    const sent = server.requests.map(({ headers }) => [headers.get('traceparent'), headers.get('baggage')]);
    assert.deepEqual(sent, [
      [`00-${traceId}-${spanId}-01`, null],
      [null, null],
    ]);
  });

  it('does not send invalid header fields', async () => {
    const server = createFakeServer(() => listResponse({}));
    const { client } = openClient(server);
    client.on('request', ({ headers }) =>
      Object.assign(headers, { traceparent: 'a\nb', authorization: 'x', 'x-other': 'y' }),
    );
    await client.getBindings(key);
    const [{ headers } = assert.fail()] = server.requests;
    assert.deepEqual([headers.get('traceparent'), headers.get('x-other')], [null, null]);
    assert.notEqual(headers.get('authorization'), 'x');
  });

  it('counts lookups, bytes, changes and stale lists', async () => {
    const counted = new Map<string, number>();
    const count = (name: string) => (value: number, attributes: object) => {
      const at = `${name} ${Object.values(attributes).join(' ')}`.trim();
      counted.set(at, (counted.get(at) ?? 0) + value);
    };
    const meter: Meter = {
      createCounter: (name) => ({ add: count(name) }),
      createUpDownCounter: (name) => ({ add: count(name) }),
      createHistogram: (name) => ({ record: (_, attributes) => count(name)(1, attributes) }),
    };
    const server = createFakeServer(() => listResponse({}));
    const { client, clock } = openClient(server);
    observeClient(client, { meter });
    await client.getBindings(key);
    await client.getBindings(key);
    server.respond(() =>
      listResponse({ p: { id: 'x', contentAddress: addressOfBytes(new Uint8Array()), updatedAt: '' } }),
    );
    clock.pass(1_000);
    await client.getBindings(key);
    server.respond(noConnection);
    clock.pass(1_000);
    await client.getBindings(key);
    const gauge = 'tenon.client.stale_lists';
    assert.equal(counted.get(gauge), 1);
    server.respond(() => listResponse({}));
    clock.pass(1_000);
    await client.getBindings(key);
    assert.deepEqual(Object.fromEntries([...counted].filter(([name]) => !name.startsWith('tenon.client.received'))), {
      'tenon.client.request.duration bindings 200': 3,
      'tenon.client.request.duration bindings network': 1,
      'tenon.client.lookups list network false': 3,
      'tenon.client.lookups list memory false': 1,
      'tenon.client.lookups list memory true': 1,
      'tenon.client.changes': 2,
      'tenon.client.stale_lists': 0,
    });
    assert.ok((counted.get('tenon.client.received bindings') ?? 0) > 40);
  });
});
