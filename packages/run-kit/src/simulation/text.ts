import type { Excerpt } from '@tenon/protocol';
import { sha256, toBase64 } from './sha256.ts';

/* Names, messages and values of a simulation are untrusted: of any length, and of any bytes. */

/** The longest texts of a report, in UTF-16 code units. */
export const maxNameLength = 200;
export const maxTextLength = 2_000;
const excerptBytes = 1_024;

/** Makes a text valid Unicode, and shortens it at the boundary of a character. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text.toWellFormed();
  // A pair of surrogates that is cut in two would become a replacement character.
  const last = text.charCodeAt(maxLength - 2);
  const end = last >= 0xd800 && last < 0xdc00 ? maxLength - 2 : maxLength - 1;
  return `${text.slice(0, end).toWellFormed()}…`;
}

/** Decodes the start of bytes that should be text. */
export function decodeText(bytes: Uint8Array, maxLength: number): string {
  // One code unit takes at most 3 bytes.
  const isCut = bytes.length > 3 * maxLength;
  const text = new TextDecoder().decode(isCut ? bytes.subarray(0, 3 * maxLength + 3) : bytes);
  return shorten(text, maxLength);
}

/** Returns the text of UTF-8 bytes; `undefined` for other bytes. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The start of bytes, as text if it is UTF-8. A character that is cut in two is left out. */
export function startOf(bytes: Uint8Array): { readonly text: string } | { readonly base64: string } {
  if (bytes.length <= excerptBytes) {
    const text = textOf(bytes);
    return text === undefined ? { base64: toBase64(bytes) } : { text };
  }
  for (let end = excerptBytes; end > excerptBytes - 4; end--) {
    const text = textOf(bytes.subarray(0, end));
    if (text !== undefined) return { text };
  }
  return { base64: toBase64(bytes.subarray(0, excerptBytes)) };
}

export function excerptOf(bytes: Uint8Array): Excerpt {
  return { text: null, ...startOf(bytes), size: bytes.length, sha256: sha256(bytes) };
}

/** Whether {@link startOf} is shorter than the bytes. */
export function isCutBytes(bytes: Uint8Array): boolean {
  return bytes.length > excerptBytes;
}
