import type { AttributeValue } from './span.ts';

/** What only few calls have beside their times. */
export interface SpanDetails {
  /** A manual span's name. */
  name: string | undefined;
  /** Its id, if that had to be known before it ended. */
  spanId: string | undefined;
  /** Why it failed. */
  failure: string | undefined;
  readonly attributes: Map<string, AttributeValue>;
  readonly events: RawEvent[];
  droppedEvents: number;
  droppedAttributes: number;
}

export interface RawEvent {
  readonly name: string;
  /** Milliseconds, as the clock told them. */
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

/** Moves what happened within a call that gets no span to the call around it. Its attributes were its own, and go. */
export function foldDetails(from: SpanDetails, into: SpanDetails, maxEvents: number): number {
  const taken = Math.min(from.events.length, maxEvents - into.events.length);
  for (let index = 0; index < taken; index++) into.events.push(from.events[index] as RawEvent);
  const dropped = from.events.length - taken;
  into.droppedEvents += from.droppedEvents + dropped;
  return dropped;
}
