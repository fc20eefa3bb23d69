/** A span of the host. */
export interface SpanContext {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** Bit 0 is `sampled`. */
  readonly traceFlags: number;
  /** `tracestate`, as it came. */
  readonly traceState: string | undefined;
}

const headerPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent` header. `undefined` for one that is to be ignored: malformed, of version `ff`, or with ids of zeros.
 * Later versions are read as far as this one goes: https://www.w3.org/TR/trace-context/#versioning-of-traceparent. A `tracestate` of more
 * than 512 characters is dropped, because it is untrusted and part of every span.
 */
export function parseTraceParent(header: string, traceState?: string): SpanContext | undefined {
  // JavaScript callers may pass `null` or a list.
  if (typeof header !== 'string') return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] = headerPattern.exec(header.trim()) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), traceState: boundedState(traceState) };
}

/** https://www.w3.org/TR/trace-context/#tracestate-limits */
const maxTraceStateLength = 512;

function boundedState(traceState: string | undefined): string | undefined {
  return typeof traceState === 'string' && traceState.length <= maxTraceStateLength ? traceState : undefined;
}

/** Writes a `traceparent` header of version 00. */
export function formatTraceParent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`;
}
