import { pipeline, Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { Request } from './request.ts';

/** The supported encodings; the one with the smallest results first. */
const encodings = ['br', 'gzip', 'identity'] as const;
export type ContentEncoding = (typeof encodings)[number];

/** Shorter bodies are not worth compressing; longer ones take too long. */
const minBytes = 1024;
const maxBytes = 4 * 1024 * 1024;

// Most responses are sent once: a better compression takes more time than it saves.
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const gzipAsync = promisify(gzip);
const brotliAsync = promisify<Uint8Array, typeof brotliOptions, Buffer>(brotliCompress);

/**
 * Returns the encoding that `accept-encoding` prefers (RFC 9110 §12.5.3), and the one with the smallest result among equals. Returns
 * `identity` if the client accepts none.
 */
export function chooseEncoding(header: string | undefined, available: Iterable<ContentEncoding>): ContentEncoding {
  if (header === undefined) return 'identity';
  const weights = new Map<string, number>();
  for (const part of header.split(',')) {
    const [, coding, weight] = /^\s*([^\s;,]+)\s*(?:;\s*q\s*=\s*([0-9.]+)\s*)?$/i.exec(part) ?? [];
    if (coding === undefined) continue;
    const name = coding.toLowerCase();
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight === undefined ? 1 : Number(weight) || 0);
  }
  const has = new Set(available);
  // `identity` is acceptable unless excluded, but any listed encoding is preferred to it.
  const weightOf = (encoding: ContentEncoding): number =>
    weights.get(encoding) ?? (encoding === 'identity' ? 1e-4 : (weights.get('*') ?? 0));
  let best: ContentEncoding = 'identity';
  for (const encoding of [...encodings].reverse()) {
    if (has.has(encoding) && weightOf(encoding) > 0 && weightOf(encoding) >= weightOf(best)) best = encoding;
  }
  return best;
}

export function encodingFor({ headers }: Request, bytes: number): ContentEncoding {
  return bytes < minBytes || bytes > maxBytes ? 'identity' : chooseEncoding(headers['accept-encoding'], encodings);
}

/** Returns the entity tag of an encoded representation, which differs for each encoding (RFC 9110 §8.8.3). */
export function encodedEtag(etag: string, encoding: ContentEncoding): string {
  return encoding === 'identity' ? etag : `${etag.slice(0, -1)}-${encoding}"`;
}

/** Returns the entity tags of all encodings. */
export function encodedEtags(etag: string): readonly string[] {
  return encodings.map((encoding) => encodedEtag(etag, encoding));
}

/** Compressed bodies, for as long as the uncompressed ones are in memory. */
const compressed = new WeakMap<Uint8Array, Map<ContentEncoding, Promise<Uint8Array>>>();

export function compress(
  body: string | Uint8Array,
  encoding: Exclude<ContentEncoding, 'identity'>,
): Promise<Uint8Array> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const byEncoding = compressed.get(bytes) ?? new Map<ContentEncoding, Promise<Uint8Array>>();
  compressed.set(bytes, byEncoding);
  let result = byEncoding.get(encoding);
  if (result === undefined) {
    result = encoding === 'br' ? brotliAsync(bytes, brotliOptions) : gzipAsync(bytes);
    byEncoding.set(encoding, result);
  }
  return result;
}

export function compressChunks(
  chunks: AsyncIterable<Uint8Array>,
  encoding: Exclude<ContentEncoding, 'identity'>,
): AsyncIterable<Uint8Array> {
  const encoder: Transform = encoding === 'br' ? createBrotliCompress(brotliOptions) : createGzip();
  // An error destroys the encoder too, so its reader gets it.
  return pipeline(Readable.from(chunks, { objectMode: false }), encoder, () => {});
}
