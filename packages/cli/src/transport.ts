import { type Problem, problem as problemSchema } from '@tenon/protocol';
import { faultsOf, isValid } from '@tenon/protocol/validate';
import type { Static, TSchema } from 'typebox';
import { CliError } from './errors.ts';
import { exitCodeOfStatus, exitCodes } from './exit-codes.ts';
import { count, printable } from './text.ts';

/** The server, what opens it, and how long to wait for it. */
export interface Target {
  readonly url: string;
  /** The file that names the server, where it was found rather than named. */
  readonly foundIn?: string | undefined;
  /** Absent for requests without a token. */
  readonly token?: string | undefined;
  /** Hints for a rejected token, or one with too few scopes. */
  readonly tokenHints?: TokenHints | undefined;
  readonly fetch: typeof fetch;
  /** Ends a request whose connection has moved nothing for this long. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Hints about a token, by the error code of the server. */
export interface TokenHints {
  readonly invalid_token: string;
  readonly insufficient_scope: string;
}

/** A time-out that restarts with each network activity. */
export interface IdleTimer {
  readonly signal: AbortSignal;
  renew(): void;
  end(): void;
}

export function createIdleTimer({ timeoutMs, signal }: Target): IdleTimer {
  const controller = new AbortController();
  const giveUp = () => controller.abort(new DOMException('The server took too long', 'TimeoutError'));
  let timer = setTimeout(giveUp, timeoutMs);
  let hasEnded = false;
  return {
    signal: AbortSignal.any([controller.signal, signal]),
    renew() {
      if (hasEnded) return; // a refused upload's last piece may still ask for more time
      clearTimeout(timer);
      timer = setTimeout(giveUp, timeoutMs);
    },
    end() {
      hasEnded = true;
      clearTimeout(timer);
    },
  };
}

/** An answer whose body is still to be read. */
export interface Answer {
  readonly response: Response;
  readonly idleTimer: IdleTimer;
  readonly target: Target;
}

type RequestBody = Pick<RequestInit, 'method' | 'body'> & { headers?: Record<string, string>; duplex?: 'half' };

/** Sends a request. @throws CliError for every unsuccessful response, and without one */
export async function request(
  options: Target,
  path: string,
  init: RequestBody,
  idleTimer: IdleTimer = createIdleTimer(options),
): Promise<Answer> {
  const answer = await send(options, path, init, idleTimer);
  if (answer.response.ok) return answer;
  throw refusal(answer, await readRefusal(answer));
}

/**
 * Sends a request, and takes whatever is answered.
 *
 * @param where a path below the server's URL, or a whole URL
 * @throws CliError when nothing is answered
 */
export async function send(
  options: Target,
  where: string,
  init: RequestBody,
  idleTimer: IdleTimer = createIdleTimer(options),
): Promise<Answer> {
  const headers = new Headers({ accept: 'application/json, application/problem+json', ...init.headers });
  if (options.token !== undefined) headers.set('authorization', `Bearer ${options.token}`);
  try {
    const response = await options.fetch(where.startsWith('/') ? options.url + where : where, {
      ...init,
      headers,
      redirect: 'manual', // a redirect must not carry a change elsewhere, nor turn it into a GET
      signal: idleTimer.signal,
    });
    idleTimer.renew();
    return { response, idleTimer, target: options };
  } catch (error) {
    idleTimer.end();
    throw connectionError(error, options);
  }
}

/** Reads the JSON of an unsuccessful response; `undefined` if it is invalid or cut off. */
export async function readRefusal({ response, idleTimer, target }: Answer): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    if (target.signal.aborted) throw target.signal.reason;
    return undefined;
  } finally {
    idleTimer.end();
  }
}

/** The error of an unsuccessful response. */
export function refusal({ response, target: { url, tokenHints } }: Answer, body: unknown): CliError {
  const { status } = response;
  const requestId = status >= 500 ? (response.headers.get('x-request-id') ?? undefined) : undefined;
  if (isValid(problemSchema, body)) {
    return new CliError(body.code, messageOf(body), {
      exitCode: exitCodeOfStatus(status),
      hint: tokenHint(body.code, tokenHints) ?? retryHint(response),
      problem: body,
      requestId,
    });
  }
  const location = response.headers.get('location');
  const isRedirect = status >= 300 && status < 400 && location !== null;
  return new CliError('unexpected_response', `${url} returned status ${status}, but not as a Tenon server does.`, {
    exitCode: exitCodeOfStatus(status),
    hint: isRedirect ? `It points to ${location}: is that where the server is?` : 'Is this the URL of a Tenon server?',
    requestId,
  });
}

/** Discards the body of a response. */
export async function dropBody({ response, idleTimer }: Answer): Promise<void> {
  idleTimer.end();
  await response.body?.cancel().catch(() => {});
}

/** Reads the JSON of a response. @throws CliError if it does not match the schema */
export async function readAnswer<T extends TSchema>(
  { response, idleTimer, target }: Answer,
  schema: T,
): Promise<Static<T>> {
  let body: unknown;
  try {
    body = await response.json();
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw connectionError(cause, target);
  } finally {
    idleTimer.end();
  }
  if (isValid(schema, body)) return body;
  const [fault] = faultsOf(schema, body);
  const where = fault === undefined ? '' : ` (${fault.pointer || 'the body'} ${fault.detail})`;
  throw new CliError('unexpected_response', `The response of the server is invalid${where}.`, {
    hint: 'Is this the URL of a Tenon server of about the same version?',
  });
}

/** The bytes of a body, in chunks. */
export async function* readChunks({ response, idleTimer, target }: Answer): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response.body ?? []) {
      idleTimer.renew();
      yield chunk;
    }
  } catch (error) {
    throw connectionError(error, target);
  } finally {
    idleTimer.end();
  }
}

function tokenHint(code: string, hints: TokenHints | undefined): string | undefined {
  return code === 'invalid_token' || code === 'insufficient_scope' ? hints?.[code] : undefined;
}

function retryHint(response: Response): string | undefined {
  const seconds = response.headers.get('retry-after');
  return seconds !== null && /^\d+$/.test(seconds) ? `Try again in ${count(Number(seconds), 'second')}.` : undefined;
}

/** The detail, which is a sentence, or begins with the invalid field. */
function messageOf({ title, detail }: Problem): string {
  return printable(/^[A-Z]/.test(detail) ? detail : `${title}: ${detail}`);
}

/** The error for a request without a response. */
function connectionError(error: unknown, { url, foundIn, timeoutMs, signal }: Target): unknown {
  if (error instanceof CliError) return error;
  if (signal.aborted) return signal.reason;
  const isTimeout = error instanceof Error && error.name === 'TimeoutError';
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, message } = cause as NodeJS.ErrnoException;
  const reason = isTimeout
    ? `no network activity for ${timeoutMs / 1000} seconds`
    : ((code && reasons[code]) ?? message);
  const named = foundIn === undefined ? url : `${url} (from ${foundIn})`;
  return new CliError('unreachable', `No answer from ${named}: ${reason}.`, {
    exitCode: exitCodes.unavailable,
    hint: isTimeout ? 'For a longer time-out: --timeout' : connectionHint(code),
    cause: error,
  });
}

function connectionHint(code: string | undefined): string {
  if (code?.startsWith('ERR_SSL_')) return 'Does the server use TLS? Without TLS, its URL starts with http://.';
  if (code !== undefined && /CERT|SIGNATURE/.test(code)) {
    return 'To trust a certificate authority of your own, set NODE_EXTRA_CA_CERTS to the file with its certificate.';
  }
  return 'Is the server running? To start one on this machine: tenon serve';
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there',
  ENOTFOUND: 'the name is unknown',
  EAI_AGAIN: 'the name cannot be looked up now',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection took too long',
};
