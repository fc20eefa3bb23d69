import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMessageDecoder, encodeMessage, type MessageDecoder } from './messages.ts';

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

  it('rejects a message that is longer than the limit, before it allocates memory for it', () => {
    const feedAll = (decoder: MessageDecoder, bytes: Uint8Array) => {
      let decoded: unknown;
      for (const byte of bytes) {
        decoder.buffer[0] = byte;
        decoded = decoder.advance(1);
      }
      return decoded;
    };
    const decoder = createMessageDecoder(100);
    const short = encodeMessage('x'.repeat(60)).head;
    for (let count = 0; count < 3; count++) assert.deepEqual(feedAll(decoder, short), { message: 'x'.repeat(60) });
    for (const lengths of [
      [2 ** 32 - 1, 0],
      [0, 2 ** 30],
      [101, 0],
    ]) {
      assert.throws(
        () => feedAll(createMessageDecoder(100), new Uint8Array(Uint32Array.from(lengths).buffer)),
        RangeError,
      );
    }
  });

  it('does not copy attachments', () => {
    const bytes = new Uint8Array(10);
    assert.equal(encodeMessage({ bytes }).attachments[0], bytes);
  });
});
