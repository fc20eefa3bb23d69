import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMessageDecoder, encodeMessage } from './messages.ts';

function decodeAll(stream: Uint8Array, chunkBytes: number): unknown[] {
  const decoder = createMessageDecoder();
  const messages: unknown[] = [];
  for (let offset = 0; offset < stream.length; ) {
    const byteCount = Math.min(decoder.buffer.length, chunkBytes, stream.length - offset);
    assert.ok(byteCount > 0, 'the buffer is never empty');
    decoder.buffer.set(stream.subarray(offset, offset + byteCount));
    offset += byteCount;
    const decoded = decoder.advance(byteCount);
    if (decoded !== undefined) messages.push(decoded.message);
  }
  return messages;
}

describe('encodeMessage()', () => {
  const messages = [
    { kind: 'check', bytes: Uint8Array.of(1, 2, 3), requirements: { schemaJson: '{"part":0}' } },
    'text with \u00e9',
    { empty: new Uint8Array(), deep: [{ bytes: Uint8Array.of(9) }], nothing: null },
    { large: new Uint8Array(100_000).fill(7) },
  ];
  for (const chunkBytes of [1, 7, 65_536]) {
    it(`round-trips through a decoder that receives ${chunkBytes} bytes at a time`, () => {
      const stream = Buffer.concat(
        messages.flatMap((message) => {
          const { head, attachments } = encodeMessage(message);
          return [head, ...attachments];
        }),
      );
      assert.deepEqual(decodeAll(stream, chunkBytes), messages);
    });
  }

  it('rejects a field that the decoder would mistake for an attachment', () => {
    assert.throws(() => encodeMessage({ exports: { part: {} } }), TypeError);
  });

  it('does not copy attachments', () => {
    const bytes = new Uint8Array(10);
    assert.equal(encodeMessage({ bytes }).attachments[0], bytes);
  });
});
