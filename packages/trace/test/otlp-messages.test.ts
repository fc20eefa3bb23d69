import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { otlpJson } from '@tenon/trace/otlp';
import { encodeProtobuf } from '../src/otlp/encode.ts';
import { traceRequestSchema } from '../src/otlp/schema.ts';
import { traceRequest } from '../src/otlp/trace-request.ts';
import {
  attributesOf,
  decodeJson,
  decodeProtobuf,
  encodedAgain,
  hexOf,
  official,
  type Plain,
} from './helpers/otlp-definitions.ts';
import { makeSpan, smallTrace, someTimeUnixNano, someTraceId, spanIdOf } from './support/make-span.ts';

const type = official.traceRequest;

const otlpProtobuf = (...given: Parameters<typeof traceRequest>) =>
  encodeProtobuf(traceRequest(...given), traceRequestSchema);

describe('a request in protobuf', () => {
  it('says everything of a span that the official definitions have a field for', () => {
    const [span, ...others] = spansOf(
      decodeProtobuf(
        type,
        otlpProtobuf([
          makeSpan({
            id: 0xfedcba,
            parent: 7,
            start: 5,
            end: 1_234_567_890,
            name: 'parse(int)',
            function: { index: 12, rawName: '_Z5parsei', name: 'parse(int)' },
            traceState: 'vendor=1,other=2',
            traceFlags: 1,
            selfTimeNano: 2n ** 53n + 1n,
            folded: { calls: 3, timeNano: 99n },
            grownPages: 2,
            status: { code: 'error', message: 'unreachable' },
            events: [
              { name: 'memory.grow', timeUnixNano: someTimeUnixNano + 7n, attributes: new Map([['pages', 2]]) },
              { name: 'log', timeUnixNano: someTimeUnixNano + 8n, attributes: new Map() },
            ],
            dropped: { events: 300, attributes: 4 },
          }),
        ]),
      ),
    );
    assert.equal(others.length, 0);
    assert.equal(hexOf(span.traceId), someTraceId);
    assert.equal(hexOf(span.spanId), spanIdOf(0xfedcba));
    assert.equal(hexOf(span.parentSpanId), spanIdOf(7));
    assert.equal(span.traceState, 'vendor=1,other=2');
    assert.equal(span.flags, 1);
    assert.equal(span.name, 'parse(int)');
    assert.equal(span.kind, 1);
    assert.equal(span.startTimeUnixNano, String(someTimeUnixNano + 5n));
    assert.equal(span.endTimeUnixNano, String(someTimeUnixNano + 1_234_567_890n));
    assert.deepEqual(
      attributesOf(span.attributes),
      new Map(
        Object.entries({
          'code.function.name': 'parse(int)',
          'wasm.function.raw_name': '_Z5parsei',
          'wasm.function.index': '12',
          'wasm.self_time_ns': '9007199254740993',
          'wasm.folded.calls': '3',
          'wasm.folded.time_ns': '99',
          'wasm.memory.grown_pages': '2',
        }),
      ),
    );
    assert.equal(span.droppedAttributesCount, 4);
    assert.equal(span.droppedEventsCount, 300);
    assert.deepEqual(span.status, { code: 2, message: 'unreachable' });
    assert.deepEqual(
      span.events.map(({ name, timeUnixNano, attributes }: Plain) => [
        name,
        timeUnixNano,
        [...attributesOf(attributes)],
      ]),
      [
        ['memory.grow', String(someTimeUnixNano + 7n), [['pages', '2']]],
        ['log', String(someTimeUnixNano + 8n), []],
      ],
    );
  });

  it('leaves out what a span does not have', () => {
    const [span] = spansOf(decodeProtobuf(type, otlpProtobuf([makeSpan({ id: 1, start: 0, end: 1, name: 'main' })])));
    assert.deepEqual(Object.keys(span).sort(), [
      'attributes',
      'endTimeUnixNano',
      'flags',
      'kind',
      'name',
      'spanId',
      'startTimeUnixNano',
      'traceId',
    ]);
    assert.deepEqual(
      [...attributesOf(span.attributes).keys()],
      ['code.function.name', 'wasm.function.index', 'wasm.self_time_ns'],
    );
  });

  it('names the source of a function', () => {
    const traced = { index: 1, rawName: 'f', name: 'f', file: '/src/f.c', line: 7 };
    const [span] = spansOf(
      decodeProtobuf(type, otlpProtobuf([makeSpan({ id: 1, start: 0, end: 1, function: traced })])),
    );
    const attributes = attributesOf(span.attributes);
    assert.equal(attributes.get('code.file.path'), '/src/f.c');
    assert.equal(attributes.get('code.line.number'), '7');
  });

  it('keeps every kind of attribute, and the measured ones from the plugin', () => {
    const attributes = new Map<string, Plain>([
      ['text', 'ä€💥'],
      ['empty', ''],
      ['yes', true],
      ['no', false],
      ['zero', 0],
      ['negative', -5],
      ['large', 2 ** 53 - 1],
      ['larger', 2 ** 60],
      ['half', 0.5],
      ['nothing', Number.NaN],
      ['endless', Number.NEGATIVE_INFINITY],
      ['most', 2n ** 63n - 1n],
      ['least', -(2n ** 63n)],
      ['too much', 2n ** 63n],
      ['list', ['a', 1, false, 1.5]],
      ['empty list', []],
      ['__proto__', 'p'],
      ['wasm.self_time_ns', 'not measured'],
      ['half a pair', '\ud800'],
    ]);
    const [span] = spansOf(decodeProtobuf(type, otlpProtobuf([makeSpan({ id: 1, start: 0, end: 9, attributes })])));
    assert.deepEqual([...attributesOf(span.attributes)].slice(3), [
      ['text', 'ä€💥'],
      ['empty', ''],
      ['yes', true],
      ['no', false],
      ['zero', '0'],
      ['negative', '-5'],
      ['large', '9007199254740991'],
      ['larger', 2 ** 60],
      ['half', 0.5],
      ['nothing', Number.NaN],
      ['endless', Number.NEGATIVE_INFINITY],
      ['most', '9223372036854775807'],
      ['least', '-9223372036854775808'],
      ['too much', '9223372036854775808'],
      ['list', ['a', '1', false, 1.5]],
      ['empty list', []],
      ['__proto__', 'p'],
      ['half a pair', '\ufffd'],
    ]);
    assert.equal(attributesOf(span.attributes).get('wasm.self_time_ns'), '9');
  });

  it('names the resource and what made the spans', () => {
    const [{ resource, scopeSpans }] = decodeProtobuf(
      type,
      otlpProtobuf(smallTrace(), { 'service.name': 'shop', 'deployment.environment.name': 'test' }),
    ).resourceSpans;
    const attributes = attributesOf(resource.attributes);
    assert.equal(attributes.get('service.name'), 'shop');
    assert.equal(attributes.get('deployment.environment.name'), 'test');
    assert.equal(attributes.get('telemetry.sdk.name'), '@tenon/trace');
    assert.equal(scopeSpans[0].scope.name, '@tenon/trace');
    const [unnamed] = decodeProtobuf(type, otlpProtobuf([])).resourceSpans;
    assert.equal(attributesOf(unnamed.resource.attributes).get('service.name'), 'unknown_service');
  });

  it('writes the same bytes as the official encoder', () => {
    const bytes = otlpProtobuf(manySpans());
    assert.ok(bytes.length > 1_000_000, 'large enough for lengths of several bytes');
    assert.ok(Buffer.from(bytes).equals(encodedAgain(type, bytes)));
  });
});

describe('otlpJson()', () => {
  it('says what protobuf says', () => {
    const spans = manySpans();
    assert.deepEqual(decodeJson(type, otlpJson(spans)), decodeProtobuf(type, otlpProtobuf(spans)));
  });

  it('has ids in hexadecimal, numbers of 64 bits as strings, and one line', () => {
    const text = otlpJson(smallTrace());
    assert.equal(text.indexOf('\n'), text.length - 1);
    const [root, main] = JSON.parse(text).resourceSpans[0].scopeSpans[0].spans;
    assert.equal(root.traceId, someTraceId);
    assert.equal(main.parentSpanId, spanIdOf(1));
    assert.equal(root.startTimeUnixNano, '1790000000000000001');
    assert.equal(root.kind, 1);
    assert.ok(!('parentSpanId' in root));
  });

  it('names the numbers that JSON does not have', () => {
    const attributes = new Map([['nothing', Number.NaN]]);
    const [span] = spansOf(JSON.parse(otlpJson([makeSpan({ id: 1, start: 0, end: 1, attributes })])));
    assert.deepEqual(span.attributes.at(-1), { key: 'nothing', value: { doubleValue: 'NaN' } });
  });
});

function spansOf(request: Plain): Plain[] {
  return request.resourceSpans[0].scopeSpans[0].spans;
}

/** Texts of all lengths around those at which the length of a length changes. */
function manySpans() {
  const lengths = [0, 1, 126, 127, 128, 129, 16_383, 16_384, 16_385, 70_000];
  return [
    ...smallTrace(),
    ...Array.from({ length: 3_000 }, (_, index) =>
      makeSpan({
        id: index + 10,
        start: index,
        end: index * 2,
        name: 'n'.repeat(lengths[index % 6] ?? 0),
        attributes: new Map<string, Plain>([
          ['text', index < 10 ? 'ä'.repeat(lengths[index] ?? 0) : 'ä'],
          ['number', 7n ** BigInt(index % 22)],
          ['negative', -(2 ** (index % 53))],
          ['half', index / 2 ** 20 + 0.5],
          ['list', Array.from({ length: index % 5 }, () => index % 2 === 0)],
        ]),
        events: Array.from({ length: index % 4 }, (_, at) => ({
          name: `e${at}`,
          timeUnixNano: someTimeUnixNano + BigInt(at),
          attributes: new Map([['at', at]]),
        })),
      }),
    ),
  ];
}
