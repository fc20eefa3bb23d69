import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFailure, readPartialSuccess } from './response.ts';

const protobuf = 'application/x-protobuf';
const utf8 = new TextEncoder();

/** `partial_success { rejected_spans: 300, error_message: "why" }`, among fields that a later version may add. */
const partial = new Uint8Array([0x10, 1, 0x1d, 0, 0, 0, 0, 0x0a, 8, 0x08, 0xac, 0x02, 0x12, 3, ...utf8.encode('why')]);

describe('readPartialSuccess()', () => {
  it('reads what was refused, past fields that it does not know', () => {
    assert.deepEqual(readPartialSuccess(partial, protobuf), { rejected: 300, message: 'why' });
    assert.deepEqual(readPartialSuccess(partial, 'APPLICATION/X-PROTOBUF; x=y'), { rejected: 300, message: 'why' });
  });

  it('takes what is empty, negative or nonsense for full success', () => {
    const full = { rejected: 0, message: '' };
    for (const [body, type] of [
      [new Uint8Array(), protobuf],
      [new Uint8Array(), ''],
      [partial, 'text/html'],
      [new Uint8Array([0x0a, 11, 0x08, ...Array<number>(9).fill(0xff), 1]), protobuf],
      [utf8.encode('{'), 'application/json'],
      [utf8.encode('null'), 'application/json'],
      [utf8.encode('{"partialSuccess":{"rejectedSpans":"many"}}'), 'application/json'],
      [utf8.encode('{"partialSuccess":{"rejectedSpans":-1,"errorMessage":5}}'), 'application/json'],
      [utf8.encode('{"__proto__":{"partialSuccess":{"rejectedSpans":1}}}'), 'application/json'],
    ] as const) {
      assert.deepEqual(readPartialSuccess(body, type), full);
    }
  });

  it('takes the last value of a field that occurs twice', () => {
    const twice = new Uint8Array([0x0a, 4, 0x08, 1, 0x08, 2]);
    assert.deepEqual(readPartialSuccess(twice, protobuf), { rejected: 2, message: '' });
  });

  it('reads every beginning of an answer without a fault', () => {
    for (let length = 0; length <= partial.length; length++) {
      const { rejected } = readPartialSuccess(partial.subarray(0, length), protobuf);
      assert.ok(rejected === 0 || length === partial.length, `${length}`);
    }
  });

  it('cuts what is too long', () => {
    const text = `${'x'.repeat(499)}💥 and more`;
    const { message } = readPartialSuccess(
      utf8.encode(JSON.stringify({ partialSuccess: { errorMessage: text } })),
      'application/json',
    );
    assert.equal(message, `${'x'.repeat(499)}\ufffd`);
  });
});

describe('readFailure()', () => {
  it('reads a status in protobuf, in JSON and in plain text, and no page', () => {
    assert.equal(readFailure(new Uint8Array([8, 3, 0x12, 2, ...utf8.encode('no')]), protobuf), 'no');
    assert.equal(readFailure(utf8.encode('{"code":3,"message":"no"}'), 'application/json'), 'no');
    assert.equal(readFailure(utf8.encode(' no \n'), 'text/plain; charset=utf-8'), 'no');
    assert.equal(readFailure(utf8.encode('{"error":"no"}'), 'application/json'), '{"error":"no"}');
    assert.equal(readFailure(utf8.encode('<h1>no</h1>'), 'text/html'), '');
    assert.equal(readFailure(new Uint8Array([0x12, 200]), protobuf), '');
  });
});
