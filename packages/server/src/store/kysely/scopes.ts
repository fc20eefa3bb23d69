import type { TokenScope } from '@tenon/protocol';

/** Scopes as the tables keep them: with spaces between them, as in RFC 6749 §3.3. */
export function scopesText(scopes: readonly TokenScope[]): string {
  return scopes.join(' ');
}

/** Takes `scopesText` apart. */
export function scopesOf(text: string): TokenScope[] {
  return text === '' ? [] : (text.split(' ') as TokenScope[]);
}
