import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMessageReader, encodeMessage } from './messages.ts';

function read(stream: Uint8Array, pieceBytes: number): unknown[] {
  const reader = createMessageReader();
  const messages: unknown[] = [];
  for (let at = 0; at < stream.length; ) {
    const taken = Math.min(reader.room.length, pieceBytes, stream.length - at);
    assert.ok(taken > 0, 'there is always room');
    reader.room.set(stream.subarray(at, at + taken));
    at += taken;
    const whole = reader.advance(taken);
    if (whole !== undefined) messages.push(whole.message);
  }
  return messages;
}

describe('encodeMessage()', () => {
  const messages = [
    { kind: 'check', bytes: Uint8Array.of(1, 2, 3), demands: { schemaJson: '{"part":0}' } },
    'text with \u00e9',
    { empty: new Uint8Array(), deep: [{ bytes: Uint8Array.of(9) }], nothing: null },
    { large: new Uint8Array(100_000).fill(7) },
  ];
  for (const pieceBytes of [1, 7, 65_536]) {
    it(`is undone by a reader that is given ${pieceBytes} bytes at a time`, () => {
      const stream = Buffer.concat(
        messages.flatMap((message) => {
          const { head, parts } = encodeMessage(message);
          return [head, ...parts];
        }),
      );
      assert.deepEqual(read(stream, pieceBytes), messages);
    });
  }

  it('refuses a field that the reader would take for bytes', () => {
    assert.throws(() => encodeMessage({ exports: { part: {} } }), TypeError);
  });

  it('copies no bytes', () => {
    const bytes = new Uint8Array(10);
    assert.equal(encodeMessage({ bytes }).parts[0], bytes);
  });
});
