import type { NewsPosition } from './ports.ts';

/** The id of an event: `<serial>-<mark>`. Clients send it back as `last-event-id`, and need not take it apart. */
export function newsId({ serial, mark }: NewsPosition): string {
  return `${serial}-${mark}`;
}

/** What {@link newsId} was made of; `undefined` for another text. */
export function parseNewsId(id: string): NewsPosition | undefined {
  const match = /^(0|[1-9]\d{0,14})-([0-9a-z]{1,32})$/.exec(id);
  return match?.[1] === undefined || match[2] === undefined ? undefined : { serial: Number(match[1]), mark: match[2] };
}
