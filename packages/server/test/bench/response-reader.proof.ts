import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createResponseReader } from '../../bench/support/response-reader.ts';

/** What is read of some bytes when they come in pieces of a size. */
function readIn(pieces: number, text: string): [number, number][] {
  const responses: [number, number][] = [];
  const read = createResponseReader((status, bytes) => responses.push([status, bytes]));
  const bytes = Buffer.from(text, 'latin1');
  const buffer = Buffer.alloc(pieces); // used again each time, as a socket's is
  for (let at = 0; at < bytes.length; at += pieces) {
    const length = bytes.copy(buffer, 0, at, at + pieces);
    read(buffer.subarray(0, length));
  }
  return responses;
}

const responses = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.1 304 Not Modified\r\netag: "a"\r\ncontent-length: 5\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n1a;name=value\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n',
  'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nfield: of a trailer\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\r\n\r\n',
].join('');

describe('createResponseReader()', () => {
  it('tells status and size of each answer, however the bytes come', () => {
    const expected = [
      [200, 5],
      [304, 0],
      [200, 31],
      [201, 0],
      [204, 0],
      [404, 0],
      [200, 4],
    ];
    for (const pieces of [1, 2, 3, 7, 64, responses.length]) assert.deepEqual(readIn(pieces, responses), expected);
  });

  it('tells nothing of an answer whose end has not come', () => {
    assert.deepEqual(readIn(1000, 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell'), []);
    assert.deepEqual(readIn(1000, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n'), []);
  });

  it('throws for what it cannot tell the end of, and for what is no HTTP', () => {
    assert.throws(() => readIn(1000, 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n'), /where the answer ends/);
    assert.throws(() => readIn(1000, 'SSH-2.0-OpenSSH_9.2\r\n\r\n'), /no answer/);
    assert.throws(() => readIn(1000, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n'), /no number/);
  });
});
