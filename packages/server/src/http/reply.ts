import type { ServerResponse } from 'node:http';

/** A body is sent whole, or in chunks, each of which is asked for once the one before has left the process. */
export type ReplyBody = string | Uint8Array | AsyncIterable<Uint8Array> | undefined;

/** The response as a route puts it together. The pipeline sends it once the route has returned. */
export class Reply {
  readonly response: ServerResponse;
  statusCode = 200;
  fields: Record<string, string | string[]> = {};
  body: ReplyBody = undefined;
  /** Whether the route has written to {@link response} by itself. */
  isSent = false;

  constructor(response: ServerResponse) {
    this.response = response;
  }

  code(status: number): this {
    this.statusCode = status;
    return this;
  }

  header(name: string, value: string | number): this {
    this.fields[name] = String(value);
    return this;
  }

  cookie(value: string): this {
    const others = this.fields['set-cookie'];
    this.fields['set-cookie'] = others === undefined ? value : [others, value].flat();
    return this;
  }

  headers(fields: Readonly<Record<string, string>>): this {
    Object.assign(this.fields, fields);
    return this;
  }

  removeHeader(name: string): this {
    delete this.fields[name];
    return this;
  }

  /** Sets a body of JSON text. */
  json(body: ReplyBody): this {
    this.fields['content-type'] ??= 'application/json; charset=utf-8';
    return this.send(body);
  }

  /** Sets the body; without one there is none. */
  send(body?: ReplyBody): this {
    this.body = body;
    return this;
  }
}

/** Aborts when the client goes away before it got its whole answer. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  if (response.destroyed) controller.abort();
  return controller.signal;
}
