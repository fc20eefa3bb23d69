/** An event of a stream of server-sent events. What is left out is not sent. */
interface ServerSentEvent {
  readonly event?: string;
  /** Becomes JSON, which has no line breaks. An event without data is told to nobody, but its id counts. */
  readonly data?: object;
  readonly id?: string;
  /** How long to wait before coming back when the stream breaks off, in milliseconds. */
  readonly retryMs?: number;
}

/** What every stream of events is answered with. It is to be kept by nobody, and to be held back by no proxy. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  connection: 'close', // what is left to say when a stream has ended goes over another one, so that none holds up a shutdown
  'x-accel-buffering': 'no', // https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
} as const;

/** A line that says nothing, by which both ends see that the other is still there. */
export const heartbeat = ':\n\n';

/** An event as it is sent: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
export function eventText({ event, data, id, retryMs }: ServerSentEvent): string {
  const fields = [
    ...(retryMs === undefined ? [] : [`retry: ${retryMs}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${JSON.stringify(data)}`]),
  ];
  return `${fields.join('\n')}\n\n`;
}
