import type { Clock } from './clock.ts';
import { ClientError } from './errors.ts';

const longestDetail = 500;

/**
 * The error that an answer without the wanted status means. The server says why in a problem document
 * (https://www.rfc-editor.org/rfc/rfc9457); what stands before it may say anything.
 */
export function refusalOf(
  { status, headers, type }: Pick<Response, 'status' | 'headers' | 'type'>,
  body: Uint8Array | undefined,
  clock: Clock,
): ClientError {
  // Browsers hide where a redirect leads (https://fetch.spec.whatwg.org/#concept-filtered-response-opaque-redirect).
  if (type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status)) {
    return new ClientError('redirected', `The server answered with a redirect${originOf(headers)}: see \`baseUrl\``, {
      status: status === 0 ? undefined : status,
    });
  }
  const problem = readProblem(headers, body);
  return new ClientError(problem?.code ?? codeOf(status), problem?.text ?? `The server answered ${status}`, {
    status,
    retryAfterMs: retryAfter(headers, clock),
    requestId: headers.get('x-request-id') ?? undefined,
  });
}

/** How long to wait, by either form of `retry-after` (https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3). */
export function retryAfter(headers: Headers, clock: Clock): number | undefined {
  const field = headers.get('retry-after')?.trim();
  if (field === undefined || field === '') return undefined;
  if (/^\d+$/.test(field)) return Number(field) * 1000;
  // Engines take a number such as "-5" for a date, too.
  const untilMs = /^[A-Z][a-z]+,? /.test(field) ? Date.parse(field) : Number.NaN;
  if (Number.isNaN(untilMs)) return undefined;
  // By the server's own clock where it tells it: ours may be off by hours.
  const serverMs = Date.parse(headers.get('date') ?? '');
  return Math.max(0, untilMs - (Number.isNaN(serverMs) ? clock.wallMs() : serverMs));
}

function readProblem(headers: Headers, body: Uint8Array | undefined): { code: string; text: string } | undefined {
  if (body === undefined || !headers.get('content-type')?.startsWith('application/problem+json')) return undefined;
  try {
    const { code, title, detail } = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>;
    if (typeof code !== 'string' || !/^[a-z][a-z0-9_]{0,63}$/.test(code)) return undefined;
    const said = [detail, title].find((text) => typeof text === 'string' && text !== '') as string | undefined;
    return { code, text: (said ?? code).replace(/\p{Cc}/gu, ' ').slice(0, longestDetail) };
  } catch {
    return undefined;
  }
}

/** What to call a refusal that does not say so itself. */
function codeOf(status: number): string {
  if (status === 401) return 'invalid_token';
  if (status === 403) return 'forbidden';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'unavailable' : 'unexpected_answer';
}

function originOf(headers: Headers): string {
  try {
    return ` to ${new URL(headers.get('location') ?? '').origin}`;
  } catch {
    return '';
  }
}
