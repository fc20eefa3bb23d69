import { DomainError } from '../domain/errors.ts';

const marker = '/bindings/';

/** What stands before the marker, in whose place a path prefix might hold a marker of its own. */
const resource = '/api/v1/extension-points/';

/**
 * The guest key of an A2 request's target as it was sent: what follows `/bindings/`, up to the query. It comes as one
 * percent-encoded segment, or raw, so that a slash in it parts several segments; each is percent-decoded once.
 *
 * @throws DomainError `invalid_request` for an escape that is none, and for bytes that are no UTF-8
 */
export function guestKeyOfTarget(target: string): string {
  const start = target.indexOf(marker, target.indexOf(resource) + resource.length) + marker.length;
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
