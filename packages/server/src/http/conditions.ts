import type { IncomingHttpHeaders } from 'node:http';
import type { ByteRange } from '../blobs/blob-store.ts';

/*
 * Conditional requests (RFC 9110 §13). The server sends no modification dates, so it ignores `if-modified-since` and
 * `if-unmodified-since`, as §13.1.3 and §13.1.4 require.
 */

/** `undefined` if the conditions allow the request. */
export type ConditionOutcome = 'not_modified' | 'precondition_failed' | undefined;

/**
 * Evaluates `if-match`, then `if-none-match` (RFC 9110 §13.2.2) for a resource with a strong entity tag.
 *
 * @param etag with quotes
 */
export function evaluateConditions(headers: IncomingHttpHeaders, etag: string): ConditionOutcome {
  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined && !matches(ifMatch, etag, 'strong')) return 'precondition_failed';
  const ifNoneMatch = headers['if-none-match'];
  // The first comparison is fast, and sufficient for clients that send one tag.
  if (ifNoneMatch !== undefined && (ifNoneMatch === etag || matches(ifNoneMatch, etag, 'weak'))) return 'not_modified';
  return undefined;
}

/**
 * RFC 9110 §8.8.3: an entity tag may contain any visible character except quotes, also commas. The server accepts spaces too. `W/` is
 * case-sensitive.
 */
const listedTag = /[ \t,]*(W\/)?("[\x20\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/y;

/** Whether a field (`*` or a list of entity tags) matches the tag. The rest of a list after a syntax error is ignored. */
function matches(field: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (field.trim() === '*') return true;
  listedTag.lastIndex = 0;
  for (let tag = listedTag.exec(field); tag !== null; tag = listedTag.exec(field)) {
    if (tag[2] === etag && (comparison === 'weak' || tag[1] === undefined)) return true;
  }
  return false;
}

/** `undefined` means the whole content. */
type RangeOutcome = ByteRange | 'not_satisfiable' | undefined;

/**
 * Evaluates `range` and `if-range` of a GET (RFC 9110 §14.2, §13.1.5). Supports a single byte range. Several ranges, other units, and
 * malformed fields are ignored, as the RFC allows.
 *
 * @param size in bytes
 * @param etag strong, with quotes
 */
export function evaluateRange(headers: IncomingHttpHeaders, size: number, etag: string): RangeOutcome {
  const { range } = headers;
  if (range === undefined) return undefined;
  const ifRange = headers['if-range'];
  if (ifRange !== undefined && ifRange !== etag) return undefined; // strong comparison: a weak tag or a date never matches
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

/** Parses digits. Larger values than any size become the largest safe integer. */
function toNumber(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
}
