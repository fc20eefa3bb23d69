/** A server-sent event. */
interface ServerSentEvent {
  readonly event?: string;
  /** Sent as JSON, which has no line breaks. Clients ignore an event without data except for its id. */
  readonly data?: object;
  readonly id?: string;
  /** How long clients wait before they reconnect, in milliseconds. */
  readonly retryMs?: number;
}

/** A comment, which keeps the connection open. */
export const heartbeat = ':\n\n';

/** Serializes an event: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
export function eventText({ event, data, id, retryMs }: ServerSentEvent): string {
  const fields = [
    ...(retryMs === undefined ? [] : [`retry: ${retryMs}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(data === undefined ? [] : [`data: ${JSON.stringify(data)}`]),
  ];
  return `${fields.join('\n')}\n\n`;
}
