import { listOf, maxPageLimit } from '@tenon/protocol';
import type { Static, TSchema } from 'typebox';
import {
  createIdleTimer,
  dropBody,
  type IdleTimer,
  readAnswer,
  readChunks,
  request,
  type Target,
} from './transport.ts';

/** A URL's path, each value in it escaped so that it stays one segment. */
export function path(texts: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: texts }, ...values.map((value) => encodeURIComponent(value)));
}

/** A body that is sent unchanged; `onSent` reports its progress. */
export interface Upload {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly onSent: (bytes: number) => void;
}

export interface Download {
  readonly totalBytes: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The server's API. Every response is checked against its schema. */
export interface Api {
  readonly url: string;
  get<T extends TSchema>(path: string, schema: T): Promise<Static<T>>;
  /** All entries of a list, however many pages it takes. */
  list<T extends TSchema>(path: string, item: T): Promise<Static<T>[]>;
  /** The first entries of a list, at most `limit` of them; all when it is left out. */
  first<T extends TSchema>(path: string, item: T, limit?: number): Promise<First<Static<T>>>;
  /** @param body `undefined` for none */
  send<T extends TSchema>(method: 'POST' | 'PUT', path: string, body: unknown, schema: T): Promise<Static<T>>;
  /** @param method default: `PUT` */
  upload<T extends TSchema>(path: string, upload: Upload, schema: T, method?: 'PUT' | 'POST'): Promise<Static<T>>;
  remove(path: string): Promise<void>;
  /** @param headers further fields of the request */
  download(path: string, headers?: Readonly<Record<string, string>>): Promise<Download>;
}

/** The first entries of a list, and whether there are no others. */
export interface First<T> {
  readonly entries: T[];
  readonly isAll: boolean;
}

const chunkBytes = 64 * 1024;

export function createApi(options: Target): Api {
  const get = async <T extends TSchema>(path: string, schema: T) =>
    readAnswer(await request(options, path, { method: 'GET' }), schema);
  const first: Api['first'] = async (path, item, limit = Number.POSITIVE_INFINITY) => {
    const page = listOf(item);
    const entries: Static<typeof item>[] = [];
    for (let cursor = ''; ; ) {
      const most = Math.min(maxPageLimit, limit - entries.length);
      const { objects, nextCursor } = await get(`${path}${path.includes('?') ? '&' : '?'}limit=${most}${cursor}`, page);
      entries.push(...objects);
      if (nextCursor === undefined || entries.length >= limit) return { entries, isAll: nextCursor === undefined };
      cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
    }
  };
  return {
    url: options.url,
    get,
    first,
    list: async (path, item) => (await first(path, item)).entries,
    async send(method, path, body, schema) {
      if (body === undefined) return readAnswer(await request(options, path, { method }), schema);
      const headers = { 'content-type': 'application/json' };
      return readAnswer(await request(options, path, { method, headers, body: JSON.stringify(body) }), schema);
    },
    async upload(path, upload, schema, method = 'PUT') {
      const headers = { 'content-type': upload.contentType, 'content-length': String(upload.bytes.length) };
      const idleTimer = createIdleTimer(options);
      const body = ReadableStream.from(pieces(upload, idleTimer));
      return readAnswer(await request(options, path, { method, headers, body, duplex: 'half' }, idleTimer), schema);
    },
    async remove(path) {
      await dropBody(await request(options, path, { method: 'DELETE' }));
    },
    async download(path, headers = {}) {
      const answer = await request(options, path, { method: 'GET', headers });
      const length = answer.response.headers.get('content-length');
      return { totalBytes: length === null ? undefined : Number(length), chunks: readChunks(answer) };
    },
  };
}

async function* pieces({ bytes, onSent }: Upload, idleTimer: IdleTimer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const piece = bytes.subarray(at, at + chunkBytes);
    yield piece;
    idleTimer.renew();
    onSent(piece.length);
  }
}
