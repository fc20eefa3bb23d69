import { DomainError } from '../domain/errors.ts';

/**
 * The guest key of an A2 request, out of what follows `/bindings/` in its path: one percent-encoded segment, or raw, so that a slash in it
 * parts several segments; each is percent-decoded once.
 *
 * @param raw as it was sent; `undefined` when what stands before it is written with escapes, which no client sends
 * @throws DomainError `invalid_request` for an invalid escape, and for bytes that are not UTF-8; `not_found`
 */
export function decodeGuestKey(raw: string | undefined): string {
  if (raw === undefined) throw new DomainError('not_found', 'No resource exists at this path.');
  if (!raw.includes('%')) return raw;
  if (/%(?![0-9A-Fa-f]{2})/.test(raw)) {
    throw new DomainError(
      'invalid_request',
      'The guest key has a percent sign without two hexadecimal digits after it.',
    );
  }
  try {
    return decodeURIComponent(raw);
  } catch (cause) {
    throw new DomainError('invalid_request', "The guest key's bytes are not UTF-8.", { cause });
  }
}
