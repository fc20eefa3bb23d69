import type { IncomingHttpHeaders } from 'node:http';
import type { ByteRange } from '../blobs/blob-store.ts';

/*
 * Conditional requests, RFC 9110 §13. Only entity tags are there to compare: what we serve has no modification date of its
 * own, so `if-modified-since` and `if-unmodified-since` are passed over as §13.1.3 and §13.1.4 say.
 */

/** What the conditions of a request come to: `undefined` means to answer as if there were none. */
export type ConditionOutcome = 'not_modified' | 'precondition_failed' | undefined;

/**
 * Evaluates `if-match`, then `if-none-match` (RFC 9110 §13.2.2) for what exists under a strong entity tag.
 *
 * @param etag with its quotes
 */
export function evaluateConditions(headers: IncomingHttpHeaders, etag: string): ConditionOutcome {
  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined && !matches(ifMatch, etag, 'strong')) return 'precondition_failed';
  const ifNoneMatch = headers['if-none-match'];
  // Most clients send the one tag that they have.
  if (ifNoneMatch !== undefined && (ifNoneMatch === etag || matches(ifNoneMatch, etag, 'weak'))) return 'not_modified';
  return undefined;
}

/**
 * RFC 9110 §8.8.3: an entity tag may hold anything visible but quotes, so commas too (and we don't mind spaces). `W/` is
 * case-sensitive.
 */
const listedTag = /[ \t,]*(W\/)?("[\x20\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/y;

/** Whether a field that is `*` or a list of entity tags names the tag. A list names nothing from where it can't be read. */
function matches(field: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (field.trim() === '*') return true;
  listedTag.lastIndex = 0;
  for (let tag = listedTag.exec(field); tag !== null; tag = listedTag.exec(field)) {
    if (tag[2] === etag && (comparison === 'weak' || tag[1] === undefined)) return true;
  }
  return false;
}

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
  if (first === '') return last === '' ? undefined : suffixRange(toNumber(last), size);
  const from = toNumber(first);
  const to = last === '' ? Number.MAX_SAFE_INTEGER : toNumber(last);
  if (to < from) return undefined;
  return from >= size ? 'not_satisfiable' : { first: from, last: Math.min(to, size - 1) };
}

function suffixRange(length: number, size: number): RangeOutcome {
  if (length === 0 || size === 0) return 'not_satisfiable';
  return { first: Math.max(0, size - length), last: size - 1 };
}

/** Digits of any number as a number that stays exact: what is larger than every size is just large. */
function toNumber(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}
