import type { Deadline } from './deadline.ts';
import { ClientError } from './errors.ts';

/** The received part of a body. It outlives an interrupted response, so that the next request can resume it. */
export interface PartialBody {
  readonly chunks: Uint8Array[];
  length: number;
}

export function emptyBody(): PartialBody {
  return { chunks: [], length: 0 };
}

export function clearBody(body: PartialBody): void {
  body.chunks.length = 0;
  body.length = 0;
}

export interface ResponseStats {
  status: number | undefined;
  receivedBytes: number;
}

export interface ReadOptions {
  readonly maxBytes: number;
  readonly idleMs: number;
  readonly deadline: Deadline;
  readonly stats: ResponseStats;
}

/**
 * Appends the bytes of a response to the body.
 *
 * @throws ClientError `too_large`; errors of the stream as they are
 */
export async function readBody(
  response: Response,
  body: PartialBody,
  { maxBytes, idleMs, deadline, stats }: ReadOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const contentLength = Number(response.headers.get('content-length') ?? 0);
  if (body.length + contentLength > maxBytes) throw tooLarge(maxBytes);
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await deadline.within(reader?.read() ?? Promise.resolve(end))) as typeof end;
    if (done || value === undefined) return concatenate(body);
    deadline.begin('between two chunks of its response', idleMs);
    stats.receivedBytes += value.length;
    if (body.length + value.length > maxBytes) throw tooLarge(maxBytes);
    body.chunks.push(value);
    body.length += value.length;
  }
}

const end: { readonly done: boolean; readonly value?: Uint8Array | undefined } = { done: true };

/** Whether a response begins where the received bytes end (https://www.rfc-editor.org/rfc/rfc9110#section-14.4). */
export function continuesBody({ status, headers }: Response, body: PartialBody): boolean {
  if (status !== 206) return false;
  // Pages can't always read the field. The digest is checked in the end.
  const range = headers.get('content-range');
  return range === null || range.startsWith(`bytes ${body.length}-`);
}

function concatenate({ chunks, length }: PartialBody): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function tooLarge(maxBytes: number): ClientError {
  return new ClientError('too_large', `The response has more than ${maxBytes} bytes (see \`limits\`)`);
}
