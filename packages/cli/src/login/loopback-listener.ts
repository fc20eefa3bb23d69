import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loopbackRedirectPath } from '@tenon/protocol';
import { CliError } from '../errors.ts';
import { type CallbackWords, callbackHeaders, callbackPage, callbackWords } from './callback-page.ts';

/** The expected parameters of the redirect. */
export interface Expected {
  readonly state: string;
  /** RFC 9207: who answers is who was asked. */
  readonly issuer: string;
}

/** The redirect's result: a code, or an error of RFC 6749 §4.1.2.1. */
export type Callback = { readonly code: string } | { readonly error: string; readonly description: string | undefined };

/** Waits on this machine's loopback address for the browser to come back (RFC 8252 §7.3). */
export interface LoopbackListener {
  readonly redirectUri: string;
  /**
   * Resolves with the one answer that has the right state. It rejects with `issuer_mismatch` when that names another issuer, and
   * with the signal's reason.
   */
  readonly receive: (expected: Expected, signal: AbortSignal) => Promise<Callback>;
  /** Closes all connections at once. */
  readonly close: () => Promise<void>;
}

/** Longer than a browser takes to send a request to its own machine. */
const requestTimeoutMs = 10_000;

/** @throws CliError if no port can be opened */
export async function listenOnLoopback(): Promise<LoopbackListener> {
  let onRequest: (request: IncomingMessage, response: ServerResponse) => void = refuse;
  const server = createServer(
    { maxHeaderSize: 16 * 1024, headersTimeout: requestTimeoutMs, requestTimeout: requestTimeoutMs },
    (request, response) => onRequest(request, response),
  );
  const port = await listen(server);
  const host = `127.0.0.1:${port}`;
  return {
    redirectUri: `http://${host}${loopbackRedirectPath}`,
    receive: (expected, signal) =>
      new Promise((resolve, reject) => {
        const stop = () => reject(signal.reason);
        signal.addEventListener('abort', stop, { once: true });
        if (signal.aborted) stop();
        onRequest = (request, response) => {
          const parameters = callbackParameters(request, host);
          if (parameters === undefined) return refuse(request, response);
          if (isRepeated(parameters) || !isSame(parameters.get('state') ?? '', expected.state)) {
            return answer(response, 400, callbackWords.refused);
          }
          onRequest = refuse; // from here on it has been used
          const { status, words, outcome } = readCallback(parameters, expected);
          // The browser has its page before the process goes on, and may end.
          answer(response, status, words, () => {
            signal.removeEventListener('abort', stop);
            if (outcome instanceof Error) reject(outcome);
            else resolve(outcome);
          });
        };
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function listen(server: Server): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
  } catch (cause) {
    throw new CliError('cannot_listen', 'Cannot listen on 127.0.0.1 for the browser to come back.', {
      hint: 'Log in without that: tenon login --device',
      cause,
    });
  }
  return (server.address() as AddressInfo).port;
}

/**
 * The parameters of a request that comes from the redirect: on our path, and to the address that we gave. A page elsewhere
 * whose name was made to lead here has another host.
 */
function callbackParameters(request: IncomingMessage, host: string): URLSearchParams | undefined {
  const url = URL.parse(request.url ?? '', `http://${host}`);
  if (request.method !== 'GET' || request.headers.host !== host || url?.pathname !== loopbackRedirectPath) {
    return undefined;
  }
  return url.searchParams;
}

/** RFC 6749 §3.1: no parameter comes twice. */
function isRepeated(parameters: URLSearchParams): boolean {
  return new Set(parameters.keys()).size !== parameters.size;
}

interface Reading {
  readonly status: number;
  readonly words: CallbackWords;
  readonly outcome: Callback | CliError;
}

function readCallback(parameters: URLSearchParams, { issuer }: Expected): Reading {
  const [code, error] = [parameters.get('code'), parameters.get('error')];
  if (parameters.get('iss') !== issuer) {
    const outcome = new CliError(
      'issuer_mismatch',
      'The answer in the browser was not from the server that was asked.',
      {
        hint: 'Nothing was sent to it. If it happens again, use: tenon login --device',
      },
    );
    return { status: 400, words: callbackWords.failed, outcome };
  }
  if (error !== null && code === null) {
    const outcome = { error, description: parameters.get('error_description') ?? undefined };
    return { status: 200, words: error === 'access_denied' ? callbackWords.denied : callbackWords.failed, outcome };
  }
  if (code !== null && code !== '' && error === null) {
    return { status: 200, words: callbackWords.approved, outcome: { code } };
  }
  const outcome = new CliError('unexpected_response', 'The browser returned neither a code nor an error.');
  return { status: 400, words: callbackWords.failed, outcome };
}

function refuse(_: IncomingMessage, response: ServerResponse): void {
  answer(response, 404, callbackWords.refused);
}

function answer(response: ServerResponse, status: number, words: CallbackWords, onDisconnect?: () => void): void {
  if (onDisconnect !== undefined) response.once('close', onDisconnect);
  response.writeHead(status, callbackHeaders).end(callbackPage(words));
}

/** Compares in constant time. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
