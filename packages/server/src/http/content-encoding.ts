import { pipeline, Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { Request } from './request.ts';

/** The encodings of bodies, the one first that is the smallest. */
const encodings = ['br', 'gzip', 'identity'] as const;
export type ContentEncoding = (typeof encodings)[number];

/** Shorter bodies are not worth compressing. */
const minBytes = 1024;

/** Longer ones take too long. */
const maxBytes = 4 * 1024 * 1024;

// Responses are made once and sent once: the best compression would cost more time than it saves.
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const gzipAsync = promisify(gzip);
const brotliAsync = promisify<Uint8Array, typeof brotliOptions, Buffer>(brotliCompress);

/**
 * Which of the encodings to send, by `accept-encoding` (RFC 9110 §12.5.3): the one that the client prefers, and of those that it
 * likes the same, the smallest. `identity` where nothing else will do.
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
  // What isn't named is not taken, but `identity` is, and comes after everything that is.
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

/** The entity tag of a representation's encoding: each is a representation of its own (RFC 9110 §8.8.3). */
export function encodedEtag(etag: string, encoding: ContentEncoding): string {
  return encoding === 'identity' ? etag : `${etag.slice(0, -1)}-${encoding}"`;
}

export function encodedEtags(etag: string): readonly string[] {
  return encodings.map((encoding) => encodedEtag(etag, encoding));
}

/** What was compressed of bodies that are sent more than once, for as long as these are kept. */
const compressed = new WeakMap<Uint8Array, Map<ContentEncoding, Promise<Uint8Array>>>();

export function compress(
  body: string | Uint8Array,
  encoding: Exclude<ContentEncoding, 'identity'>,
): Promise<Uint8Array> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const known = compressed.get(bytes) ?? new Map<ContentEncoding, Promise<Uint8Array>>();
  compressed.set(bytes, known);
  let result = known.get(encoding);
  if (result === undefined) {
    result = encoding === 'br' ? brotliAsync(bytes, brotliOptions) : gzipAsync(bytes);
    known.set(encoding, result);
  }
  return result;
}

export function compressChunks(
  chunks: AsyncIterable<Uint8Array>,
  encoding: Exclude<ContentEncoding, 'identity'>,
): AsyncIterable<Uint8Array> {
  const encoder: Transform = encoding === 'br' ? createBrotliCompress(brotliOptions) : createGzip();
  // An error destroys the encoder with it, and whoever reads from there finds it.
  return pipeline(Readable.from(chunks, { objectMode: false }), encoder, () => {});
}
