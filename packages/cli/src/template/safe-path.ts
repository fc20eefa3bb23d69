import { printable } from '../text.ts';

const maxPathLength = 400;
/** Windows opens devices by these names, with any ending. */
const device = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?$/i;

/**
 * Why an untrusted path can't name a file within a folder, on any system: it leads elsewhere, names a device, or lies in `.git`, whose
 * files Git runs. The words complete `"…" …`.
 *
 * @param path with `/`
 * @returns `undefined` for a safe one
 */
export function pathFault(path: string): string | undefined {
  if (path.length > maxPathLength) return `is longer than ${maxPathLength} characters`;
  if (/[\\:<>"|?*]/.test(path) || printable(path) !== path) return 'has characters that file names must not have';
  for (const part of path.split('/')) {
    if (part === '' || part === '.' || part === '..') return 'must be a path below the folder';
    if (/[. ]$/.test(part)) return 'has a part that ends with a dot or a space';
    if (device.test(part)) return 'names a device';
    if (/^(?:\.git|git~\d+)$/i.test(part)) return "lies in Git's folder";
  }
  return undefined;
}

/** Finds two paths that some file systems take for one. */
export function findClash(paths: Iterable<string>): readonly [string, string] | undefined {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const key = path.normalize('NFC').toLowerCase();
    const other = seen.get(key);
    if (other !== undefined) return [other, path];
    seen.set(key, path);
  }
  return undefined;
}
