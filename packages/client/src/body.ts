import type { Deadline } from './deadline.ts';
import { ClientError } from './errors.ts';

/** What has come of a body. Outlives an answer that breaks off, so that the next one can go on from there. */
export interface PartialBody {
  readonly chunks: Uint8Array[];
  length: number;
}

export function emptyBody(): PartialBody {
  return { chunks: [], length: 0 };
}

/** Lets go of what has come: it is of no use. */
export function forgetBody(body: PartialBody): void {
  body.chunks.length = 0;
  body.length = 0;
}

/** What was seen of an answer. */
export interface Seen {
  status: number | undefined;
  receivedBytes: number;
}

export interface Reading {
  readonly maxBytes: number;
  readonly idleMs: number;
  readonly deadline: Deadline;
  readonly seen: Seen;
}

/**
 * Adds an answer's bytes to those that are there.
 *
 * @throws ClientError `too_large`; what the stream breaks off with, as it is
 */
export async function readBody(
  response: Response,
  body: PartialBody,
  { maxBytes, idleMs, deadline, seen }: Reading,
): Promise<Uint8Array<ArrayBuffer>> {
  const announced = Number(response.headers.get('content-length') ?? 0);
  if (body.length + announced > maxBytes) throw tooLarge(maxBytes);
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await deadline.within(reader?.read() ?? Promise.resolve(nothing))) as typeof nothing;
    if (done || value === undefined) return joined(body);
    deadline.begin('between two pieces of its answer', idleMs);
    seen.receivedBytes += value.length;
    if (body.length + value.length > maxBytes) throw tooLarge(maxBytes);
    body.chunks.push(value);
    body.length += value.length;
  }
}

const nothing: { readonly done: boolean; readonly value?: Uint8Array | undefined } = { done: true };

/** Whether an answer goes on where the bytes that are there end (https://www.rfc-editor.org/rfc/rfc9110#section-14.4). */
export function continues({ status, headers }: Response, body: PartialBody): boolean {
  if (status !== 206) return false;
  // A page doesn't always get to see the field; the digest tells in the end.
  const range = headers.get('content-range');
  return range === null || range.startsWith(`bytes ${body.length}-`);
}

function joined({ chunks, length }: PartialBody): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function tooLarge(maxBytes: number): ClientError {
  return new ClientError('too_large', `The answer has more than the ${maxBytes} bytes that the limits allow`);
}
