import { DomainError } from '../domain/errors.ts';

const marker = '/bindings/';
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The guest key of an A2 request's target as it was sent: what follows `/bindings/`, up to the query. It comes as one
 * percent-encoded segment, or raw, so that a slash in it parts several segments; each is percent-decoded once.
 *
 * @throws DomainError `invalid_request` for an escape that is none, and for bytes that are no UTF-8
 */
export function guestKeyOfTarget(target: string): string {
  const start = target.indexOf(marker) + marker.length;
  const query = target.indexOf('?', start);
  const path = query === -1 ? target.slice(start) : target.slice(start, query);
  return isPlain(path) ? path : decode(path);
}

/** Whether a path is printable ASCII without an escape, so that it stands for itself. */
function isPlain(path: string): boolean {
  return /^[!-$&-~]*$/.test(path);
}

/** `decodeURIComponent` does the same, but tells a bad escape from bad UTF-8 by nothing, and takes raw bytes for Latin-1. */
function decode(path: string): string {
  // Node gives the target's bytes as Latin-1 characters; clients that encode nothing send UTF-8.
  const bytes: number[] = [];
  for (let at = 0; at < path.length; at++) {
    if (path[at] !== '%') {
      bytes.push(path.charCodeAt(at));
      continue;
    }
    const hex = path.slice(at + 1, at + 3);
    if (!/^[0-9A-Fa-f]{2}$/.test(hex)) {
      throw new DomainError(
        'invalid_request',
        'The guest key has a percent sign without two hexadecimal digits after it.',
      );
    }
    bytes.push(Number.parseInt(hex, 16));
    at += 2;
  }
  try {
    return utf8.decode(Uint8Array.from(bytes));
  } catch (cause) {
    throw new DomainError('invalid_request', "The guest key's bytes are not UTF-8.", { cause });
  }
}
