import { lookup as systemLookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isPrivateHost, publicOnly } from '../http/public-addresses.ts';
import { type AttemptResult, errorOfStatus, readRetryAfter } from './schedule.ts';

/** How long a receiver may take to respond, in milliseconds: https://github.com/standard-webhooks/standard-webhooks */
const timeoutMs = 15_000;

/** How much of a response's body is read, in bytes. */
const maxResponseBytes = 1000;

/** How long the server reads the body of a response whose status it knows, in milliseconds. */
const bodyTimeoutMs = 1000;

export interface PostOptions {
  /** Allows private addresses and `http:`, for a URL that the operator allows. */
  readonly mayBePrivate: boolean;
  readonly signal: AbortSignal;
  /** Resolves host names. Default: DNS for public addresses, and the system's resolver for others. */
  readonly lookup?: typeof systemLookup | undefined;
  /** Default: 15 seconds. */
  readonly timeoutMs?: number | undefined;
}

/** The server stopped during an attempt, which has no result. */
export class PostAbortedError extends Error {
  override readonly name = 'PostAbortedError';
}

/**
 * Makes one attempt to deliver a body. Addresses are checked at each attempt, redirects are not followed, and only the beginning of the
 * response is read.
 *
 * @throws PostAbortedError if `signal` aborts it
 */
export async function postWebhook(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  options: PostOptions,
): Promise<AttemptResult> {
  const startMs = performance.now();
  const endSignal = AbortSignal.timeout(options.timeoutMs ?? timeoutMs);
  const failed = (error: AttemptResult['error']): AttemptResult => ({
    status: null,
    error,
    response: null,
    durationMs: Math.round(performance.now() - startMs),
  });
  const { mayBePrivate } = options;
  if (!mayBePrivate && (url.protocol !== 'https:' || isPrivateHost(url))) return failed('unreachable');
  try {
    const message = await send(url, body, headers, options, AbortSignal.any([endSignal, options.signal]));
    const status = message.statusCode ?? 0;
    const response = await readStart(message);
    const retryAfterMs = readRetryAfter(message.headers['retry-after'], Date.now());
    return { ...failed(errorOfStatus(status)), status, response, retryAfterMs };
  } catch (error) {
    if (options.signal.aborted) throw new PostAbortedError('The server stopped', { cause: error });
    return failed(endSignal.aborted ? 'timeout' : 'unreachable');
  }
}

function send(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  { mayBePrivate, lookup }: PostOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'http:' ? httpRequest : httpsRequest)(url, {
      method: 'POST',
      agent: false,
      signal,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'tenon',
        ...headers,
      },
      lookup: mayBePrivate ? ((lookup ?? systemLookup) as LookupFunction) : publicOnly(lookup),
    });
    request.on('error', reject);
    request.on('response', resolve);
    request.end(body);
  });
}

/** Reads the beginning of a body, and closes the connection. An incomplete body is no failure, because the status is known. */
function readStart(message: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (): void => {
      clearTimeout(timer);
      message.destroy();
      resolve(printable(Buffer.concat(chunks).subarray(0, maxResponseBytes).toString('utf8')));
    };
    const timer = setTimeout(end, bodyTimeoutMs);
    message.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxResponseBytes) end();
    });
    message.once('end', end);
    message.once('error', end);
    message.once('close', end);
  });
}

/** Removes control characters except line breaks and tabs. PostgreSQL stores no U+0000. */
function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '').trim();
}
