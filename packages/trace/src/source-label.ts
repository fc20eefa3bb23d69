import type { TracedFunction } from './span.ts';

/** The source of a function for a line of text: the last two parts of the path, and the line. Empty if unknown. */
export function sourceLabel(traced: Pick<TracedFunction, 'file' | 'line'> | undefined): string {
  if (traced?.file === undefined) return '';
  const path = shortPath(traced.file);
  return traced.line === undefined ? path : `${path}:${traced.line}`;
}

/** The last two parts of a path. */
export function shortPath(path: string): string {
  const parts = path.split(/[/\\]/).filter((part) => part !== '');
  return parts.slice(-2).join('/');
}
