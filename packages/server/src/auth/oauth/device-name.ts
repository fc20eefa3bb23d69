import { unsafeCharacters } from '@tenon/trace/unsafe-characters';

/** The maximum length of a device's name, in code points. */
const maxLength = 60;

/**
 * Sanitizes a device's name for the approval page. Removes invisible characters and those that change the text direction, and truncates
 * it.
 *
 * @param name the name that the device sent. It is untrusted
 * @returns `null` for an empty name
 */
export function cleanDeviceName(name: string | undefined): string | null {
  const visible = (name ?? '')
    .normalize('NFC')
    .replace(unsafeCharacters, ' ')
    .replace(/\p{Cs}/gu, ' ');
  const short = [...visible.replace(/\s+/g, ' ').trim()].slice(0, maxLength).join('').trim();
  return short === '' ? null : short;
}
