import type { IncomingHttpHeaders } from 'node:http';
import type { ByteRange } from '../domain/ports.ts';

/** What a `range` field asks for: a stretch, one that lies outside, or nothing that we heed (then all is sent). */
type RangeOutcome = ByteRange | 'not_satisfiable' | undefined;

/**
 * Reads `range` and `if-range` of a GET (RFC 9110 §14.2, §13.1.5). Only a single range of bytes is heeded: several, another
 * unit, and what can't be read are passed over, which the RFC allows.
 *
 * @param size in bytes
 * @param etag strong, with its quotes
 */
export function evaluateRange(headers: IncomingHttpHeaders, size: number, etag: string): RangeOutcome {
  const { range } = headers;
  if (range === undefined) return undefined;
  const ifRange = headers['if-range'];
  if (ifRange !== undefined && ifRange !== etag) return undefined; // compared strongly: a weak tag and a date never match
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(range);
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '') return last === '' ? undefined : suffix(toNumber(last), size);
  const from = toNumber(first);
  const to = last === '' ? Number.MAX_SAFE_INTEGER : toNumber(last);
  if (to < from) return undefined;
  return from >= size ? 'not_satisfiable' : { first: from, last: Math.min(to, size - 1) };
}

function suffix(length: number, size: number): RangeOutcome {
  if (length === 0 || size === 0) return 'not_satisfiable';
  return { first: Math.max(0, size - length), last: size - 1 };
}

/** Digits of any number as a number that stays exact: what is larger than every size is just large. */
function toNumber(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}
