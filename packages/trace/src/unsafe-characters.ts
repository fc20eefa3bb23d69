/**
 * Characters that are unsafe to show: C0 and C1 controls, line and paragraph separators, bidirectional controls, and zero-width and other
 * invisible format characters. They can move a terminal's cursor, or make one name look like another.
 */
export const unsafeCharacters: RegExp = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text that is safe to show: unsafe characters come out as escapes such as `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(unsafeCharacters, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
