import type { Clock } from './clock.ts';
import { ClientError } from './errors.ts';

const maxDetailChars = 500;

/**
 * The error of an unsuccessful response. The server sends a problem document (https://www.rfc-editor.org/rfc/rfc9457). A proxy may
 * send anything.
 */
export function responseError(
  { status, headers, type }: Pick<Response, 'status' | 'headers' | 'type'>,
  body: Uint8Array | undefined,
  clock: Clock,
): ClientError {
  // Browsers hide the target of a redirect (https://fetch.spec.whatwg.org/#concept-filtered-response-opaque-redirect).
  if (type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status)) {
    return new ClientError(
      'redirected',
      `The server responded with a redirect${originOf(headers)}: check \`baseUrl\``,
      {
        status: status === 0 ? undefined : status,
      },
    );
  }
  const problem = readProblem(headers, body);
  return new ClientError(
    problem?.code ?? codeOfStatus(status),
    problem?.text ?? `The server responded with ${status}`,
    {
      status,
      retryAfterMs: retryAfter(headers, clock),
      requestId: headers.get('x-request-id') ?? undefined,
    },
  );
}

/** The delay of either form of `retry-after` (https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3). */
export function retryAfter(headers: Headers, clock: Clock): number | undefined {
  const field = headers.get('retry-after')?.trim();
  if (field === undefined || field === '') return undefined;
  if (/^\d+$/.test(field)) return Number(field) * 1000;
  // Engines also parse numbers such as "-5" as dates.
  const untilMs = /^[A-Z][a-z]+,? /.test(field) ? Date.parse(field) : Number.NaN;
  if (Number.isNaN(untilMs)) return undefined;
  // Relative to the server's clock if known: the local one may be off by hours.
  const serverMs = Date.parse(headers.get('date') ?? '');
  return Math.max(0, untilMs - (Number.isNaN(serverMs) ? clock.wallMs() : serverMs));
}

function readProblem(headers: Headers, body: Uint8Array | undefined): { code: string; text: string } | undefined {
  if (body === undefined || !headers.get('content-type')?.startsWith('application/problem+json')) return undefined;
  try {
    const { code, title, detail } = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>;
    if (typeof code !== 'string' || !/^[a-z][a-z0-9_]{0,63}$/.test(code)) return undefined;
    const message = [detail, title].find((text) => typeof text === 'string' && text !== '') as string | undefined;
    return { code, text: (message ?? code).replace(/\p{Cc}/gu, ' ').slice(0, maxDetailChars) };
  } catch {
    return undefined;
  }
}

/** The code of a response without a problem document. */
function codeOfStatus(status: number): string {
  if (status === 401) return 'invalid_token';
  if (status === 403) return 'forbidden';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'unavailable' : 'unexpected_response';
}

function originOf(headers: Headers): string {
  try {
    return ` to ${new URL(headers.get('location') ?? '').origin}`;
  } catch {
    return '';
  }
}
