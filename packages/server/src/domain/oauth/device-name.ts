/** The most characters (code points) of a device's name. */
const maxLength = 60;

/**
 * What an asking machine calls itself, fit to be shown to a person who decides by it: without characters that can't be seen
 * or that turn the direction of the text around them, and short. `null` when nothing is left.
 */
export function cleanDeviceName(claimed: string | undefined): string | null {
  const visible = (claimed ?? '').normalize('NFC').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ');
  const short = [...visible.replace(/\s+/g, ' ').trim()].slice(0, maxLength).join('').trim();
  return short === '' ? null : short;
}
