import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ErrorFormat } from './http-error.ts';

/** The properties of the matched route that the pipeline uses. */
export interface MatchedRoute {
  /** The template, not the path, which may contain a guest key or an id. */
  readonly path: string;
  readonly errorFormat?: ErrorFormat | undefined;
  /** Whether scripts of any origin may read its responses. */
  readonly isForAnyOrigin: boolean;
}

export class Request {
  readonly message: IncomingMessage;
  /** The value of `x-request-id`. */
  readonly id: string;
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** `undefined` until the router has matched one. */
  route: MatchedRoute | undefined = undefined;
  params: Readonly<Record<string, string>> = {};
  query: Readonly<Record<string, unknown>> = {};
  /** The undecoded value of the wildcard, for a route with `rawWildcard`. */
  rawWildcard: string | undefined = undefined;

  constructor(message: IncomingMessage, id: string) {
    this.message = message;
    this.id = id;
    this.method = message.method ?? '';
    this.target = message.url ?? '/';
    this.headers = message.headers;
  }
}

/** Whether a header field is repeated. For fields that must not be repeated, `headers` has only the first value. */
export function hasRepeatedField({ rawHeaders }: IncomingMessage, lowerCaseName: string): boolean {
  let fields = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName) fields++;
  }
  return fields > 1;
}
