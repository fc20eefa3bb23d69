import { printable } from '../text.ts';
import type { FunctionModel, Side, TypeModel } from './plugin-interface.ts';

const lineLength = 96;

/** The lines of a comment about a function, wrapped. */
export function functionLines({ description, input, output }: FunctionModel): string[] {
  const about = commentLines(description);
  const sides = [
    ...(input === undefined ? [] : commentLines(`Input: ${sideWords(input)}`)),
    ...(output === undefined ? [] : commentLines(`Output: ${sideWords(output)}`)),
  ];
  return [...about, ...(about.length > 0 && sides.length > 0 ? [''] : []), ...sides];
}

const contentTypes = { json: 'application/json', text: 'text/plain; charset=utf-8', binary: 'application/x-binary' };

function sideWords({ encoding, type, description }: Side): string {
  const kind = encoding === 'json' ? `${contentTypes.json}, ${typeWords(type)}` : contentTypes[encoding];
  return description === '' ? kind : `${kind}: ${description.replace(/\s+/g, ' ')}`;
}

function typeWords(type: TypeModel): string {
  const nullable = type.nullable ? ' or null' : '';
  if (type.kind === 'object' || type.kind === 'enum') return type.name + nullable;
  if (type.kind === 'array') return `list of ${typeWords(type.items)}${nullable}`;
  if (type.kind === 'map') return `map of ${typeWords(type.items)}${nullable}`;
  return (type.kind === 'any' ? 'any value' : type.kind) + nullable;
}

/** The lines of a comment, wrapped. No line ends the comment or changes how the code is shown. */
export function commentLines(text: string): string[] {
  return text.split(/\r?\n/).flatMap((line) => wrap(line));
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of harmless(text).split(/\s+/).filter(Boolean)) {
    if (line !== '' && line.length + word.length >= lineLength) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  // In C, a backslash at a line's end would join the next line to the comment.
  return (line === '' ? lines : [...lines, line]).map((text) => (text.endsWith('\\') ? `${text}.` : text));
}

function harmless(text: string): string {
  return printable(text.replaceAll('\t', ' ')).replaceAll('*/', '* /').replaceAll('/*', '/ *').replaceAll('??', '? ?');
}

/** A comment between slashes and stars; empty without lines. */
export function blockComment(lines: readonly string[], indent = ''): string {
  if (lines.length === 0) return '';
  const [only] = lines;
  if (lines.length === 1) return `${indent}/** ${only} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

/** A comment of lines that begin with a mark such as `///`. */
export function lineComment(mark: string, lines: readonly string[], indent = ''): string {
  return lines.map((line) => `${`${indent}${mark} ${line}`.trimEnd()}\n`).join('');
}
