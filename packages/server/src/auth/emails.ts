import { invalidField } from '../http/domain-errors.ts';

const maxEmailLength = 254; // RFC 5321 §4.5.3.1.3, without the angle brackets

/**
 * Normalizes an e-mail address. Stored addresses are normalized and unique. It ignores case also before the `@`: in practice no two
 * mailboxes differ only in case, and users don't remember the case.
 */
export function normalizeEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/**
 * Parses an e-mail address, and returns its normalized form.
 *
 * @throws DomainError `invalid_field`
 */
export function parseEmail(text: string, pointer = '/email'): string {
  const email = normalizeEmail(text);
  if (email.length <= maxEmailLength && /^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u.test(email)) return email;
  throw invalidField(pointer, 'must be an e-mail address');
}
