import { stripVTControlCharacters, styleText } from 'node:util';
import { unsafeCharacters, visible } from '@tenon/trace/unsafe-characters';
import type { Environment } from './environment.ts';
import type { Output } from './io.ts';

/** Text styles; without colours they return the text unchanged. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly error: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly good: (text: string) => string;
}

/** Whether a stream shows colours: a terminal that is not dumb, unless NO_COLOR is set. */
export function hasColours(stream: Output, environment: Environment): boolean {
  return stream.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

export function createStyle(isColoured: boolean): Style {
  const as = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: as('bold'),
    dim: as('dim'),
    error: as(['bold', 'red']),
    warning: as(['bold', 'yellow']),
    good: as('green'),
  };
}

/** Escapes {@link unsafeCharacters} of untrusted text for a terminal. */
export const printable = visible;

/**
 * Escapes {@link unsafeCharacters} of a command's output, except line breaks, tabs, and the colours of {@link createStyle}.
 */
export function withoutControls(text: string): string {
  return text.replace(colourOrUnsafe, (found, colour: string | undefined) =>
    colour !== undefined || found === '\n' || found === '\t' ? found : printable(found),
  );
}

const colourOrUnsafe = new RegExp(`(\\u001b\\[(?:0|1|2|22|31|32|33|39)m)|${unsafeCharacters.source}`, 'gu');

/** JSON with all {@link unsafeCharacters} escaped. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(unsafeCharacters, (character) =>
    character === '\n'
      ? character
      : character
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join(''),
  );
}

/** Like {@link printable}, with line breaks and tabs kept. */
export function printableLines(text: string): string {
  return text
    .split(/(\r?\n|\t)/)
    .map((part, at) => (at % 2 === 0 ? printable(part) : part))
    .join('');
}

/** Created with the first use: it takes 20 ms. */
let graphemes: Intl.Segmenter | undefined;
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
const zeroWidth = /^\p{Mark}|^\u200b/u;

function segments(text: string): Intl.Segments {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return graphemes.segment(text);
}

/** The number of terminal columns of a text. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segments(stripVTControlCharacters(text))) {
    width += zeroWidth.test(segment) ? 0 : wide.test(segment) ? 2 : 1;
  }
  return width;
}

/** A text that may come from elsewhere, or one with the style in which to show it. */
export type Cell = string | { readonly text: string; readonly style: (text: string) => string };

const gap = '  ';
const minColumnWidth = 8;

/**
 * A table with aligned columns, a heading above each. The last column is not padded.
 *
 * @param maxWidth of a line; where lines are longer, the ends of the widest cells are cut off
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  style: Style,
  maxWidth = Number.POSITIVE_INFINITY,
): string {
  const lines = [headings.map((text) => ({ text, style: style.dim })), ...rows.map((row) => row.map(printableCell))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => displayWidth(line[column]?.text ?? ''))));
  const lineWidth = () => widths.reduce((sum, width) => sum + width + gap.length, -gap.length);
  for (let widest = Math.max(...widths); lineWidth() > maxWidth && widest > minColumnWidth; ) {
    widths[widths.indexOf(widest)] = widest - 1;
    widest = Math.max(...widths);
  }
  return lines
    .map((line) => {
      const cells = line.map((cell, column) => {
        const width = widths[column] ?? 0;
        const text = truncate(cell.text, width);
        return cell.style(text) + (column === line.length - 1 ? '' : ' '.repeat(width - displayWidth(text)));
      });
      return `${cells.join(gap).trimEnd()}\n`;
    })
    .join('');
}

function printableCell(cell: Cell): Exclude<Cell, string> {
  const { text, style } = typeof cell === 'string' ? { text: cell, style: (plain: string) => plain } : cell;
  return { text: printable(text), style };
}

/** The beginning of a text that takes at most `width` columns, with an ellipsis where it is cut off. */
function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let start = '';
  for (const { segment } of segments(text)) {
    if (displayWidth(start + segment) > width - 1) break;
    start += segment;
  }
  return `${start}…`;
}

/** A table of numbers, aligned on the right except for the last column. */
export function formatFigures(headings: readonly string[], rows: readonly (readonly string[])[], style: Style): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => displayWidth(row[column] ?? ''))));
  const lines = all.map((row) =>
    row
      .map((cell, column) =>
        column === row.length - 1 ? cell : ' '.repeat((widths[column] ?? 0) - displayWidth(cell)) + cell,
      )
      .filter((_, column) => (widths[column] ?? 0) > 0)
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line, at) => `${at === 0 ? style.dim(line) : line}\n`).join('');
}

/** Named values, or lists of values with a line for each, aligned. */
export function formatFields(fields: readonly Field[], style: Style): string {
  const width = Math.max(...fields.map(([name]) => displayWidth(name)));
  return fields
    .map(([name, value]) => {
      const lines = (isList(value) ? value : [value]).map(printableCell).map((cell) => cell.style(cell.text));
      const indented = lines.join(`\n${' '.repeat(width + 2)}`);
      return `${style.dim(name + ' '.repeat(width - displayWidth(name)))}  ${indented}\n`;
    })
    .join('');
}

export type Field = readonly [name: string, value: Cell | readonly Cell[]];

function isList(value: Field[1]): value is readonly Cell[] {
  return Array.isArray(value);
}

/** Created with the first use, and once: it takes ten microseconds each time. */
let thousands: Intl.NumberFormat | undefined;

/** A number with its thousands apart: `28,277`. */
export function formatNumber(value: number): string {
  thousands ??= new Intl.NumberFormat('en-US');
  return thousands.format(value);
}

/** A size for people: `812 B`, `63.0 KiB`, `1.2 MiB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const inKiB = bytes / 1024;
  if (inKiB < 1024) return `${inKiB.toFixed(1)} KiB`;
  const inMiB = inKiB / 1024;
  return inMiB < 1024 ? `${inMiB.toFixed(1)} MiB` : `${(inMiB / 1024).toFixed(1)} GiB`;
}

/** A moment as the API writes it, to the minute: `2026-07-01 12:34Z`. */
export function formatTime(timestamp: string | null): string {
  return timestamp === null ? 'never' : printable(timestamp).replace(/^(.{10})T(.{5}).*$/, '$1 $2Z');
}

/** `1 guest`, `2 guests`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${formatNumber(number)} ${number === 1 ? one : many}`;
}

/** The number of guests in a list that the server may have cut off. */
export function countGuests(guestIds: readonly string[], hasMore: boolean): string {
  return `${count(guestIds.length, 'guest')}${hasMore ? ' or more' : ''}`;
}

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Words as a sentence: a capital at the beginning, a full stop at the end. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** The numbers of revoked credentials, such as `1 session, 2 tokens, 0 API keys`. */
export function revokedText({
  sessions,
  tokens,
  apiKeys,
}: {
  readonly sessions: number;
  readonly tokens: number;
  readonly apiKeys: number;
}): string {
  return `${count(sessions, 'session')}, ${count(tokens, 'token')}, ${count(apiKeys, 'API key')}`;
}
