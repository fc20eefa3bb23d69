import { DomainError } from '../domain/errors.ts';

/** What stands before the guest key: the marker in a path prefix, or in the key itself, is none. */
const beforeKey = /\/api\/v1\/extension-points\/[^/?#]*\/bindings\//;

/**
 * The guest key of an A2 request's target as it was sent: what follows `/bindings/`, up to the query. It comes as one
 * percent-encoded segment, or raw, so that a slash in it parts several segments; each is percent-decoded once.
 *
 * @throws DomainError `invalid_request` for an escape that is none, and for bytes that are no UTF-8; `not_found` where what
 *   stands before the key is written with escapes, which the router reads and nobody sends
 */
export function guestKeyOfTarget(target: string): string {
  const found = beforeKey.exec(target);
  if (found === null) throw new DomainError('not_found', 'Nothing is at this path.');
  const start = found.index + found[0].length;
  const query = target.indexOf('?', start);
  const path = query === -1 ? target.slice(start) : target.slice(start, query);
  if (!path.includes('%')) return path;
  if (/%(?![0-9A-Fa-f]{2})/.test(path)) {
    throw new DomainError(
      'invalid_request',
      'The guest key has a percent sign without two hexadecimal digits after it.',
    );
  }
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw new DomainError('invalid_request', "The guest key's bytes are not UTF-8.", { cause });
  }
}
