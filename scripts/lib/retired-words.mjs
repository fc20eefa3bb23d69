// Finds words that the project has replaced by standard terms, so that they don't come back.
import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';

/**
 * One retired word.
 *
 * - `identifier`: a whole identifier in code, matched with its case. A leading `*` stands for any beginning, a trailing `*` for any rest that
 *   starts with a capital letter.
 * - `phrase`: whole words in any text, matched without case; a space in it also matches a line break inside a comment.
 *
 * @typedef {object} RetiredWord
 * @property {string} [identifier]
 * @property {string} [phrase]
 * @property {string} use the term to write instead
 * @property {string[]} in globs of the files in which it is retired
 * @property {Record<string, string>} [except] why a file (a glob) may use it
 */

/**
 * @param {string} root
 * @param {readonly string[]} files paths below `root`
 * @param {readonly RetiredWord[]} words
 * @returns {string[]} a line for each use: path, line, the word, and the term to write
 */
export function retiredWordFaults(root, files, words) {
  const patterns = words.map((word) => ({ word, pattern: patternOf(word) }));
  return files.flatMap((file) => {
    const inScope = patterns.filter(({ word }) => isInScope(word, file));
    if (inScope.length === 0) return [];
    const text = readFileSync(join(root, file), 'utf8');
    return inScope.flatMap(({ word, pattern }) =>
      Array.from(text.matchAll(pattern), ({ 0: found, index }) => {
        const line = text.slice(0, index).split('\n').length;
        return `${file}:${line}: ${JSON.stringify(found.replaceAll(/\s+/g, ' '))} is retired: write ${word.use}`;
      }),
    );
  });
}

/**
 * @param {RetiredWord} word
 * @param {string} file
 */
function isInScope(word, file) {
  if (!word.in.some((glob) => matchesGlob(file, glob))) return false;
  return !Object.keys(word.except ?? {}).some((glob) => matchesGlob(file, glob));
}

/** @param {RetiredWord} word */
function patternOf({ identifier, phrase }) {
  if (identifier !== undefined) {
    const beginning = identifier.startsWith('*') ? '[\\w$]+' : '';
    const rest = identifier.endsWith('*') ? '[A-Z][\\w$]*' : '';
    const name = RegExp.escape(identifier.replace(/^\*|\*$/g, ''));
    return new RegExp(`(?<![\\w$])${beginning}${name}${rest}(?![\\w$])`, 'g');
  }
  if (phrase === undefined) throw new Error('A retired word needs "identifier" or "phrase".');
  const gap = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:\*|//|#)?[ \t]*)`;
  return new RegExp(`(?<!\\w)${phrase.split(' ').map(RegExp.escape).join(gap)}(?!\\w)`, 'gi');
}
