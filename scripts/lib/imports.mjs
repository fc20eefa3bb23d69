// What a source file imports, found in its text.
import { readFileSync } from 'node:fs';

/** @typedef {{ specifier: string, line: number, isType: boolean }} Import `isType`: `import type` or `export type` */

const patterns = [
  // import … from 'x', export … from 'x', over several lines too
  /^[ \t]*(?:import|export)\b[^'"`;]*?\bfrom\s*(['"])(.+?)\1/gm,
  // import 'x'
  /^[ \t]*import\s*(['"])(.+?)\1/gm,
  // import('x') as an expression and as a type, import.meta.resolve('x')
  /\bimport(?:\.meta\.resolve)?\(\s*(['"])(.+?)\1/g,
  // new URL('./worker.ts', import.meta.url), which is how worker threads are named
  /\bnew URL\(\s*(['"])(\.{1,2}\/.+?\.m?[jt]s)\1\s*,\s*import\.meta\.url/g,
];

/**
 * @param {string} text TypeScript or JavaScript
 * @returns {Import[]} in the order of their lines; type imports too
 */
export function importsOf(text) {
  const code = blankComments(text);
  const found = patterns.flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => ({
      specifier: match[2] ?? '',
      line: code.slice(0, match.index + match[0].length).split('\n').length,
      isType: /^\s*(?:import|export)\s+type\b/.test(match[0]),
    })),
  );
  return found.sort((a, b) => a.line - b.line);
}

/** @param {string} file */
export function importsOfFile(file) {
  return importsOf(readFileSync(file, 'utf8'));
}

/**
 * Replaces comments by as many line ends, so that examples in them are no imports and lines keep their numbers. Text in
 * quotes is passed over, since `//` may stand in it.
 *
 * @param {string} text
 */
export function blankComments(text) {
  return text.replace(/(['"])(?:\\.|(?!\1)[^\\\n])*\1|`(?:\\[\s\S]|[^\\`])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (match) =>
    match.startsWith('/') ? match.replace(/[^\n]/g, ' ') : match,
  );
}
