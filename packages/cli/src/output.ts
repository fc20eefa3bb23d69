import type { Writable } from 'node:stream';
import type { CliError } from './errors.ts';
import type { Io } from './io.ts';
import {
  type Cell,
  createStyle,
  type Field,
  formatFields,
  formatTable,
  hasColours,
  printable,
  printableJson,
  printableLines,
  type Style,
  withoutControls,
} from './text.ts';

/**
 * A command's output. Results go to stdout, for people or as JSON; everything else goes to stderr, so that stdout can be
 * piped. Texts of the server are untrusted: unsafe characters are escaped.
 */
export interface Reporter {
  readonly isJson: boolean;
  /** The style of stdout. */
  readonly style: Style;
  /** Writes a result: `value` as JSON, or what `show` writes for people. */
  readonly result: (value: unknown, show: () => void) => void;
  /** Writes a text to stdout. */
  readonly write: (text: string) => void;
  /** Writes a table to stdout, no wider than the terminal. Without rows, writes `whenEmpty` to stderr instead. */
  readonly table: (headings: readonly string[], rows: readonly (readonly Cell[])[], whenEmpty: string) => void;
  /** Writes named values to stdout. */
  readonly fields: (fields: readonly Field[]) => void;
  /** Writes what was done, or what to do next, to stderr; nothing under `--json`. */
  readonly note: (text: string) => void;
  /** Warns on stderr, also under `--json`. */
  readonly warn: (text: string) => void;
}

export function createReporter(io: Pick<Io, 'stdout' | 'stderr' | 'environment'>, isJson: boolean): Reporter {
  const style = createStyle(hasColours(io.stdout, io.environment));
  const errorStyle = createStyle(hasColours(io.stderr, io.environment));
  const write = (text: string) => void io.stdout.write(withoutControls(text));
  const note = (text: string) => {
    if (!isJson) io.stderr.write(`${withoutControls(text)}\n`);
  };
  return {
    isJson,
    style,
    write,
    note,
    result(value, show) {
      if (isJson) write(`${printableJson(value, 2)}\n`);
      else show();
    },
    table(headings, rows, whenEmpty) {
      if (rows.length === 0) note(whenEmpty);
      else write(formatTable(headings, rows, style, io.stdout.isTTY === true ? io.stdout.columns : undefined));
    },
    fields: (fields) => write(formatFields(fields, style)),
    warn: (text) => void io.stderr.write(`${errorStyle.warning('warning:')} ${withoutControls(text)}\n`),
  };
}

/** Writes an error to stderr: for people, or as one line of JSON. */
export function reportError(error: CliError, io: Pick<Io, 'stderr' | 'environment'>, isJson: boolean): void {
  const { problem } = error;
  if (isJson) {
    const { code, message, hint, requestId } = error;
    io.stderr.write(`${printableJson({ error: { code, message, hint, requestId, problem } })}\n`);
    return;
  }
  const style = createStyle(hasColours(io.stderr, io.environment));
  const lines = [`${style.error('error:')} ${printableLines(error.message)}`];
  for (const { pointer, detail } of problem?.errors ?? []) {
    if (!error.message.includes(detail)) lines.push(`  ${printable(pointer)}  ${printable(detail)}`);
  }
  if (error.requestId !== undefined) lines.push(style.dim(`  request ${printable(error.requestId)}`));
  if (error.hint !== undefined) lines.push(printableLines(error.hint));
  io.stderr.write(`${lines.join('\n')}\n`);
}

/** Writes bytes to a stream and waits until it has accepted them. */
export function writeBytes(stream: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
