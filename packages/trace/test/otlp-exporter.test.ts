import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type OtlpExporterOptions, otlpExporter } from '@tenon/trace/otlp';
import { createOtlpExporter } from '../src/otlp/span-exporter.ts';
import { type Collector, namesIn, startCollector } from './helpers/collector.ts';
import { encodeMessage, official } from './helpers/otlp-definitions.ts';
import { makeSpan, smallTrace } from './support/make-span.ts';
import { createTestWorld } from './support/test-world.ts';

describe('otlpExporter()', () => {
  let collector: Collector;
  before(async () => {
    collector = await startCollector();
  });
  after(() => collector.close());
  beforeEach(() => void (collector.received as unknown[]).splice(0));

  /** An exporter to the collector in its own environment, and the errors that it reported. */
  function setUp(options: OtlpExporterOptions = {}) {
    const world = createTestWorld();
    const errors: string[] = [];
    const exporter = createOtlpExporter(
      { endpoint: collector.url, onError: ({ code, message }) => errors.push(`${code}: ${message}`), ...options },
      world,
    );
    return { world, exporter, errors };
  }

  const spans = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) =>
      makeSpan({ id: from + index + 1, start: 0, end: 1, name: `${from + index}` }),
    );

  describe('on the wire', () => {
    it('sends protobuf to /v1/traces', async () => {
      const exporter = otlpExporter({
        endpoint: collector.url,
        headers: { 'x-key': 'secret' },
        resource: { 'service.name': 'shop' },
      });
      exporter.export(smallTrace());
      await exporter.shutdown();
      const [request] = collector.received;
      assert.equal(request?.path, '/v1/traces');
      assert.equal(request?.headers['content-type'], 'application/x-protobuf');
      assert.equal(request?.headers['x-key'], 'secret');
      assert.deepEqual(namesIn(collector.received), [
        ['_start', 'main', 'parse(int)', 'parse(int)', 'parse(int)', 'run'],
      ]);
      assert.deepEqual(exporter.counts(), { sent: 6, rejected: 0, failed: 0, dropped: 0, queued: 0 });
    });

    it('sends the same in JSON, and compressed', async () => {
      for (const options of [
        { protocol: 'http/json' },
        { compression: 'gzip' },
        { protocol: 'http/json', compression: 'gzip' },
        {},
      ] as const) {
        const exporter = otlpExporter({ endpoint: collector.url, ...options });
        exporter.export(smallTrace());
        await exporter.shutdown();
      }
      const [json, zipped, zippedJson, protobuf] = collector.received;
      for (const other of [json, zipped, zippedJson]) assert.deepEqual(other?.message, protobuf?.message);
      assert.equal(json?.headers['content-type'], 'application/json');
      assert.equal(json?.headers['content-encoding'], undefined);
      assert.equal(zipped?.headers['content-encoding'], 'gzip');
      assert.ok((zippedJson?.bytes ?? 0) < (json?.bytes ?? 0) / 2);
    });

    it('keeps the path and query of the endpoint, and takes a whole URL as it is', async () => {
      for (const options of [
        { endpoint: `${collector.url}/base/` },
        { endpoint: `${collector.url}/b?key=1` },
        { url: `${collector.url}/in` },
      ]) {
        const exporter = otlpExporter(options);
        exporter.export(spans(0, 1));
        await exporter.shutdown();
      }
      assert.deepEqual(
        collector.received.map(({ path }) => path),
        ['/base/v1/traces', '/b/v1/traces?key=1', '/in'],
      );
    });

    it('makes new headers for each request', async () => {
      let made = 0;
      const { exporter } = setUp({ headers: async () => ({ authorization: `Bearer ${++made}` }), maxBatchSpans: 1 });
      exporter.export(spans(0, 2));
      await exporter.flush();
      assert.deepEqual(
        collector.received.map(({ headers }) => headers.authorization),
        ['Bearer 1', 'Bearer 2'],
      );
    });
  });

  describe('batches', () => {
    it('waits for more spans for a while, and no longer', async () => {
      const { exporter, world } = setUp({ batchDelayMs: 200 });
      exporter.export(spans(0, 2));
      world.pass(199);
      exporter.export(spans(2, 3));
      assert.equal(exporter.counts().queued, 3);
      world.pass(1);
      await world.until(() => exporter.counts().sent === 3);
      assert.deepEqual(namesIn(collector.received), [['0', '1', '2']]);
      exporter.export(spans(3, 4));
      assert.deepEqual(world.waits(), [200]);
      await exporter.flush();
    });

    it('sends full batches at once, one after the other', async () => {
      const { exporter, world } = setUp({ maxBatchSpans: 3 });
      exporter.export(spans(0, 7));
      await world.until(() => exporter.counts().sent === 6);
      assert.deepEqual(world.waits(), [1_000], 'the rest waits for others');
      await exporter.flush();
      assert.deepEqual(namesIn(collector.received), [['0', '1', '2'], ['3', '4', '5'], ['6']]);
    });

    it('keeps no more than it may, tells it once, and takes more when there is room', async () => {
      const { exporter, world, errors } = setUp({ maxQueueSpans: 4, maxBatchSpans: 100 });
      exporter.export(spans(0, 3));
      exporter.export(spans(3, 7));
      exporter.export(spans(7, 9));
      assert.deepEqual(exporter.counts(), { sent: 0, rejected: 0, failed: 0, dropped: 5, queued: 4 });
      assert.deepEqual(errors, ['export_failed: Dropped spans: more than 4 were waiting']);
      await assert.rejects(exporter.flush(), { code: 'export_failed', message: /more than 4/ });
      exporter.export(spans(9, 10));
      await exporter.flush();
      assert.deepEqual(
        namesIn(collector.received),
        [['0', '1', '2', '3'], ['9']],
        'the beginning of the second, whose parents it holds',
      );
      exporter.export(spans(20, 30));
      assert.equal(errors.length, 2);
      world.pass(1_000);
      await world.until(() => exporter.counts().queued === 0);
    });

    it('counts what is on its way as waiting', async () => {
      collector.answer({ behaviour: 'hang' });
      const { exporter, world } = setUp({
        maxQueueSpans: 4,
        maxBatchSpans: 2,
        timeoutMs: 50,
        retry: { maxAttempts: 1 },
      });
      exporter.export(spans(0, 2));
      await world.until(() => collector.received.length === 1);
      exporter.export(spans(2, 6));
      assert.deepEqual(exporter.counts(), { sent: 0, rejected: 0, failed: 0, dropped: 2, queued: 4 });
      world.pass(50);
      await assert.rejects(exporter.flush());
      assert.deepEqual(exporter.counts(), { sent: 2, rejected: 0, failed: 2, dropped: 2, queued: 0 });
    });

    it('halves a request that is too large until it is taken', async () => {
      collector.answer({ status: 413 }, {}, { status: 413 }, { status: 413 });
      const { exporter, errors } = setUp();
      exporter.export(spans(0, 5));
      await assert.rejects(exporter.flush(), /1 spans was answered with 413/);
      assert.deepEqual(
        namesIn(collector.received).map((names) => names.join('')),
        ['01234', '01', '234', '2', '34'],
      );
      assert.deepEqual(exporter.counts(), { sent: 4, rejected: 0, failed: 1, dropped: 0, queued: 0 });
      assert.equal(errors.length, 1);
    });
  });

  describe('when the collector does not take it', () => {
    for (const status of [429, 502, 503, 504]) {
      it(`comes back after ${status}, later each time`, async () => {
        collector.answer({ status }, { status }, { status });
        const { exporter, world, errors } = setUp();
        exporter.export(spans(0, 1));
        const flushed = exporter.flush();
        for (const [attempt, delayMs] of [750, 1_500, 3_000].entries()) {
          await world.until(() => collector.received.length === attempt + 1 && world.waits()[0] === delayMs);
          world.pass(delayMs);
        }
        await flushed;
        assert.equal(collector.received.length, 4);
        assert.deepEqual(errors, []);
        assert.equal(exporter.counts().sent, 1);
      });
    }

    it('waits as long as it is asked to, in seconds or until a date', async () => {
      const date = new Date(1_790_000_000_000 + 20_000).toUTCString();
      collector.answer(
        { status: 429, headers: { 'retry-after': '9' } },
        { status: 503, headers: { 'retry-after': date } },
      );
      const { exporter, world } = setUp();
      exporter.export(spans(0, 1));
      const flushed = exporter.flush();
      await world.until(() => world.waits()[0] === 9_000);
      world.pass(9_000);
      await world.until(() => world.waits()[0] === 11_000);
      world.pass(11_000);
      await flushed;
      assert.equal(exporter.counts().sent, 1);
    });

    it('does not wait for longer than it may', async () => {
      collector.answer({ status: 429, headers: { 'retry-after': '61' } });
      const { exporter } = setUp();
      exporter.export(spans(0, 1));
      await assert.rejects(exporter.flush(), /answered with 429/);
      assert.equal(collector.received.length, 1);
    });

    it('gives up after the last attempt, says why, and continues with the next spans', async () => {
      collector.answer(
        ...Array.from({ length: 3 }, () => ({
          status: 503,
          headers: { 'content-type': 'text/plain' },
          body: 'full\n',
        })),
      );
      const { exporter, world, errors } = setUp({ retry: { maxAttempts: 3, initialDelayMs: 4, maxDelayMs: 6 } });
      exporter.export(spans(0, 2));
      const flushed = assert.rejects(exporter.flush(), { message: 'Sending 2 spans was answered with 503: full' });
      await world.until(() => world.waits()[0] === 3);
      world.pass(3);
      await world.until(() => world.waits()[0] === 4.5);
      world.pass(4.5);
      await flushed;
      assert.deepEqual(errors, ['export_failed: Sending 2 spans was answered with 503: full']);
      exporter.export(spans(2, 3));
      await exporter.flush();
      assert.deepEqual(exporter.counts(), { sent: 1, rejected: 0, failed: 2, dropped: 0, queued: 0 });
    });

    for (const status of [301, 307, 400, 401, 404, 500, 501]) {
      it(`does not come back after ${status}`, async () => {
        collector.answer({ status, headers: { location: `${collector.url}/elsewhere` } });
        const { exporter } = setUp();
        exporter.export(spans(0, 1));
        await assert.rejects(exporter.flush(), {
          code: 'export_failed',
          message: `Sending 1 spans was answered with ${status}`,
        });
        assert.equal(collector.received.length, 1);
      });
    }

    it('tells the reason that the collector gives', async () => {
      const { exporter } = setUp();
      const reason = new Uint8Array([8, 3, 18, 4, ...new TextEncoder().encode('why?')]);
      collector.answer(
        { status: 400, headers: { 'content-type': 'application/x-protobuf' }, body: reason },
        { status: 400, headers: { 'content-type': 'application/json' }, body: '{"code":3,"message":"because"}' },
        { status: 400, headers: { 'content-type': 'text/html' }, body: '<h1>no</h1>' },
      );
      for (const text of [': why?', ': because', '']) {
        exporter.export(spans(0, 1));
        await assert.rejects(exporter.flush(), { message: `Sending 1 spans was answered with 400${text}` });
      }
    });

    it('comes back when the connection breaks, and when there is no answer in time', async () => {
      collector.answer({ behaviour: 'drop' }, { behaviour: 'hang' });
      const { exporter, world } = setUp({ timeoutMs: 5_000 });
      exporter.export(spans(0, 1));
      const flushed = exporter.flush();
      await world.until(() => world.waits()[0] === 750);
      world.pass(750);
      await world.until(() => collector.received.length === 2);
      world.pass(5_000);
      await world.until(() => world.waits()[0] === 1_500);
      world.pass(1_500);
      await flushed;
      assert.equal(collector.received.length, 3);
    });

    it('reports that no server listens', async () => {
      const gone = await startCollector();
      await gone.close();
      const { exporter } = setUp({ endpoint: gone.url, retry: { maxAttempts: 1 } });
      exporter.export(spans(0, 1));
      await assert.rejects(exporter.flush(), /^TraceError: Sending 1 spans did not reach it: .*ECONNREFUSED/);
    });

    it('counts what was refused of a request that was taken', async () => {
      const refusal = { partialSuccess: { rejectedSpans: 2, errorMessage: 'too old' } };
      collector.answer(
        { headers: { 'content-type': 'application/x-protobuf' }, body: encodeMessage(official.traceResponse, refusal) },
        {
          headers: { 'content-type': 'application/json; charset=utf-8' },
          body: '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too new"}}',
        },
        { headers: { 'content-type': 'application/json' }, body: '{"partialSuccess":{}}' },
      );
      const { exporter, errors } = setUp();
      for (const expected of [/refused 2 of 3 spans: too old/, /refused 1 of 3 spans: too new/]) {
        exporter.export(spans(0, 3));
        await assert.rejects(exporter.flush(), expected);
      }
      exporter.export(spans(0, 3));
      await exporter.flush();
      assert.deepEqual(exporter.counts(), { sent: 6, rejected: 3, failed: 0, dropped: 0, queued: 0 });
      assert.equal(errors.length, 2);
      assert.equal(collector.received.length, 3, 'what was refused is not sent again');
    });

    it('lets go of an answer that has no end', async () => {
      collector.answer({ headers: { 'content-type': 'application/json' }, body: `"${'x'.repeat(1_000_000)}"` });
      const { exporter } = setUp();
      exporter.export(spans(0, 1));
      await exporter.flush();
      assert.equal(exporter.counts().sent, 1);
    });

    it('goes on when a listener throws', async () => {
      collector.answer({ status: 400 });
      const { exporter } = setUp({
        onError() {
          throw new Error('of the listener');
        },
      });
      exporter.export(spans(0, 1));
      await assert.rejects(exporter.flush(), /answered with 400/);
      exporter.export(spans(1, 2));
      await exporter.flush();
      assert.deepEqual(exporter.counts(), { sent: 1, rejected: 0, failed: 1, dropped: 0, queued: 0 });
    });
  });

  describe('shutdown()', () => {
    it('sends what waits, takes nothing more, and can be called again', async () => {
      const { exporter, world, errors } = setUp({ maxBatchSpans: 2 });
      exporter.export(spans(0, 5));
      const first = exporter.shutdown();
      assert.equal(exporter.shutdown(), first);
      exporter.export(spans(5, 6));
      await assert.rejects(first, /was shut down/);
      assert.equal(exporter.counts().sent, 5);
      exporter.export(spans(6, 7));
      assert.equal(exporter.counts().dropped, 2);
      assert.equal(errors.length, 1);
      assert.deepEqual(world.waits(), []);
    });

    it('gives up after a while', async () => {
      collector.answer({ behaviour: 'hang' });
      const { exporter, world } = setUp({ shutdownTimeoutMs: 7_000, maxBatchSpans: 1 });
      exporter.export(spans(0, 3));
      const closed = assert.rejects(exporter.shutdown(), { message: 'Sending 1 spans was aborted at shutdown' });
      await world.until(() => collector.received.length === 1);
      world.pass(7_000);
      await closed;
      assert.deepEqual(exporter.counts(), { sent: 0, rejected: 0, failed: 3, dropped: 0, queued: 0 });
      assert.deepEqual(world.waits(), []);
    });

    it('gives up a pause between attempts as well', async () => {
      collector.answer({ status: 503 });
      const { exporter, world } = setUp({ shutdownTimeoutMs: 10 });
      exporter.export(spans(0, 1));
      const closed = assert.rejects(exporter.shutdown(), { message: 'Sending 1 spans was answered with 503' });
      await world.until(() => world.waits().includes(750));
      world.pass(10);
      await closed;
    });
  });

  it('tells every option that is wrong, and no secret', () => {
    const options = {
      endpoint: 'ftp://host',
      url: 'http://me:password@host/',
      protocol: 'grpc',
      headers: { 'x-key': 'se\ncret' },
      retry: { maxAttempts: 0, other: 1 },
      timeoutMs: 0,
      batchDelayMs: 2 ** 31,
      maxQueueSpans: 1.5,
      resource: [],
      onError: 1,
      'a/b': 1,
    };
    assert.throws(
      () => otlpExporter(options as unknown as OtlpExporterOptions),
      (error: Error & { code: string; faults: { pointer: string }[] }) => {
        assert.equal(error.code, 'invalid_option');
        assert.deepEqual(error.faults.map(({ pointer }) => pointer).sort(), [
          '/a~1b',
          '/batchDelayMs',
          '/endpoint',
          '/headers',
          '/maxQueueSpans',
          '/onError',
          '/protocol',
          '/resource',
          '/retry/maxAttempts',
          '/retry/other',
          '/timeoutMs',
          '/url',
        ]);
        assert.doesNotMatch(error.message, /cret|password/);
        return true;
      },
    );
  });
});
