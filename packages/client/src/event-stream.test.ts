import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEventParser, type StreamEvent } from './event-stream.ts';

const encode = (text: string) => new TextEncoder().encode(text);

function parse(text: string, lastId?: string) {
  const parser = createEventParser(lastId);
  const events = parser.push(encode(text));
  return { events, lastId: parser.lastId, retryMs: parser.retryMs };
}

type Reported = Omit<StreamEvent, 'id'>;

const message = (data: string): Reported => ({ type: 'message', data });
const reported = (events: readonly StreamEvent[]): Reported[] => events.map(({ type, data }) => ({ type, data }));

/** Input, the events by the standard, and the last id. */
const cases: Readonly<Record<string, readonly [text: string, events: readonly Reported[], lastId?: string]>> = {
  'an event with all fields': ['id: 7\nevent: binding\ndata: {"a":1}\n\n', [{ type: 'binding', data: '{"a":1}' }], '7'],
  'several lines of data': ['data: YHOO\ndata: +2\ndata: 10\n\n', [message('YHOO\n+2\n10')]],
  'data without a value': ['data\n\ndata\ndata\n\ndata:', [message(''), message('\n')]],
  'a space after the colon, of which one goes': [
    'data:test\n\ndata: test\n\ndata:  test\n\n',
    [message('test'), message('test'), message(' test')],
  ],
  comments: [': a comment\n:\n:\n\ndata: a\n\n', [message('a')]],
  'an event that no empty line ends': ['data: a\n\ndata: b\n', [message('a')]],
  'an id without data': ['id: 9\n\n', [], '9'],
  'an id that no empty line follows': ['data: a\nid: 1\n\nid: 2\n', [message('a')], '1'],
  'an id that holds on': ['id: 1\ndata: a\n\ndata: b\n\n', [message('a'), message('b')], '1'],
  'an id that is taken back': ['id: 1\ndata: a\n\nid\ndata: b\n\n', [message('a'), message('b')], ''],
  'an id with a NUL, which doesn’t count': ['id: 1\n\nid: 2\0\ndata: a\n\n', [message('a')], '1'],
  'a type that holds for one event': ['event: x\ndata: a\n\ndata: b\n\n', [{ type: 'x', data: 'a' }, message('b')]],
  'a type without data': ['event: x\n\ndata: b\n\n', [message('b')]],
  'unknown fields': ['toString: 1\n__proto__: 2\nDATA: 3\n data: 4\ndata: a\n\n', [message('a')]],
  'lines that end in CR': ['data: a\rdata: b\r\rdata: c\r\r', [message('a\nb'), message('c')]],
  'lines that end in CR LF': ['id: 3\r\ndata: a\r\n\r\ndata: b\r\n\r\n', [message('a'), message('b')], '3'],
  'lines that end in each way': ['data: a\r\ndata: b\rdata: c\n\r\ndata: d\r\r', [message('a\nb\nc'), message('d')]],
  'a byte order mark': ['\ufeffdata: a\n\n', [message('a')]],
  'a second byte order mark, which is no such thing': ['\ufeff\ufeffdata: a\n\ndata: b\n\n', [message('b')]],
  'line separators that are none here': [
    'data: a\u2028b\u2029c\u0085d\u000be\n\n',
    [message('a\u2028b\u2029c\u0085d\u000be')],
  ],
  'characters of many bytes': ['data: é€🦀\n\n', [message('é€🦀')]],
  nothing: ['', []],
};

describe('createEventParser()', () => {
  for (const [name, [text, events, lastId = '']] of Object.entries(cases)) {
    it(`reads ${name}, at all chunk boundaries`, () => {
      const whole = parse(text);
      assert.deepEqual(reported(whole.events), events);
      assert.equal(whole.lastId, lastId);
      const bytes = encode(text);
      for (let first = 0; first <= bytes.length; first++) {
        for (let second = first; second <= bytes.length; second++) {
          const parser = createEventParser();
          const pieces = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
          assert.deepEqual(
            reported(pieces.flatMap((piece) => parser.push(piece))),
            events,
            `cut at ${first} and ${second}`,
          );
          assert.equal(parser.lastId, lastId);
        }
      }
      const single = createEventParser();
      assert.deepEqual(reported([...bytes].flatMap((byte) => single.push(Uint8Array.of(byte)))), events);
    });
  }

  it('continues with the id of the previous connection', () => {
    assert.equal(parse('data: a\n\n', '5-aa').lastId, '5-aa');
    assert.equal(parse('id: 6\ndata: a\n\n', '5-aa').lastId, '6');
  });

  it('returns each event with its id', () => {
    const { events } = parse('data: a\n\nid: 1\n\ndata: b\n\nid: 2\ndata: c\n\ndata: d\n\n', '0');
    assert.deepEqual(
      events.map(({ data, id }) => [data, id]),
      [
        ['a', '0'],
        ['b', '1'],
        ['c', '2'],
        ['d', '2'],
      ],
    );
  });

  it('reads the `retry` field if it is a number', () => {
    assert.equal(parse('retry: 1500\n\n').retryMs, 1500);
    for (const text of [
      'retry: soon\n\n',
      'retry: -1\n\n',
      'retry: 1.5\n\n',
      'retry:\n\n',
      'retry: 99999999999999\n\n',
    ]) {
      assert.equal(parse(text).retryMs, undefined, text);
    }
  });

  it('replaces invalid UTF-8 by the replacement character', () => {
    const parser = createEventParser();
    const bytes = [...encode('data: '), 0xff, 0xe2, 0x82, ...encode('\n\n')];
    assert.deepEqual(reported(parser.push(Uint8Array.from(bytes))), [message('\ufffd\ufffd')]);
  });

  it('rejects a line and an event without an end', () => {
    const half = encode('x'.repeat(600_000));
    const line = createEventParser();
    line.push(half);
    assert.throws(() => line.push(half), { code: 'too_large' });
    const lines = createEventParser();
    const data = encode(`data: ${'x'.repeat(600_000)}\n`);
    lines.push(data);
    assert.throws(() => lines.push(data), { code: 'too_large' });
  });
});
