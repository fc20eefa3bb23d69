import type { ServerResponse } from 'node:http';

/** A complete body, or chunks. A chunk is requested when the previous one has been written to the socket. */
export type ReplyBody = string | Uint8Array | AsyncIterable<Uint8Array> | undefined;

/** The response that a route builds. The endpoint sends it when the handler has returned. */
export class Reply {
  readonly response: ServerResponse;
  statusCode = 200;
  fields: Record<string, string | string[]> = {};
  body: ReplyBody = undefined;
  /** Whether the handler has written to {@link response} itself. */
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

  /** Sets a body of serialized JSON. */
  json(body: ReplyBody): this {
    this.fields['content-type'] ??= 'application/json; charset=utf-8';
    return this.send(body);
  }

  /** Sets the body, or removes it. */
  send(body?: ReplyBody): this {
    this.body = body;
    return this;
  }
}

/** Returns a signal that aborts when the client disconnects before the response is complete. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  if (response.destroyed) controller.abort();
  return controller.signal;
}
