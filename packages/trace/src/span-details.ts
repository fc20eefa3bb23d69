import type { AttributeValue } from './span.ts';

/** What few calls have besides their times. */
export interface SpanDetails {
  /** The name of a manual span. */
  name: string | undefined;
  /** The span's id, if the host asked for it before the end. */
  spanId: string | undefined;
  /** The failure message. */
  failure: string | undefined;
  readonly attributes: Map<string, AttributeValue>;
  readonly events: RawEvent[];
  droppedEvents: number;
  droppedAttributes: number;
}

export interface RawEvent {
  readonly name: string;
  /** Milliseconds of the clock. */
  readonly time: number;
  readonly attributes: ReadonlyMap<string, AttributeValue>;
}

export function createDetails(): SpanDetails {
  return {
    name: undefined,
    spanId: undefined,
    failure: undefined,
    attributes: new Map(),
    events: [],
    droppedEvents: 0,
    droppedAttributes: 0,
  };
}

/** Moves the events of a folded call to its caller. Its attributes are dropped. */
export function foldDetails(from: SpanDetails, into: SpanDetails, maxEvents: number): number {
  const taken = Math.min(from.events.length, maxEvents - into.events.length);
  for (let index = 0; index < taken; index++) into.events.push(from.events[index] as RawEvent);
  const dropped = from.events.length - taken;
  into.droppedEvents += from.droppedEvents + dropped;
  return dropped;
}
