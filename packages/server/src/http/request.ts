import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ErrorFormat } from './http-error.ts';

/** What the pipeline needs to know of the route that the router found. */
export interface MatchedRoute {
  /** The template, never the path, which may hold a guest key or an id. */
  readonly path: string;
  readonly errorFormat?: ErrorFormat | undefined;
  /** Whether scripts of any origin may read its responses. */
  readonly isForAnyOrigin: boolean;
}

export class Request {
  readonly message: IncomingMessage;
  /** For the log, and for `x-request-id`. */
  readonly id: string;
  readonly method: string;
  /** As it was sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** `undefined` until the router has found one. */
  route: MatchedRoute | undefined = undefined;
  params: Readonly<Record<string, string>> = {};
  query: Readonly<Record<string, unknown>> = {};
  /** What stands for the wildcard of a route with `rawWildcard`, as it was sent. */
  rawWildcard: string | undefined = undefined;

  constructor(message: IncomingMessage, id: string) {
    this.message = message;
    this.id = id;
    this.method = message.method ?? '';
    this.target = message.url ?? '/';
    this.headers = message.headers;
  }
}

/** Whether a request has a header field more than once. Node keeps the first alone of those that must not be repeated. */
export function hasRepeatedField({ rawHeaders }: IncomingMessage, lowerCaseName: string): boolean {
  let fields = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName) fields++;
  }
  return fields > 1;
}
