import type { FunctionDescription, InstrumentReport, Note } from '@tenon/instrument';
import type { Style } from './text.ts';
import { formatNumber, printable } from './text.ts';

/** More notes than people read; `--json` has all. */
const maxShownNotes = 12;

const percents = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
  signDisplay: 'exceptZero',
});

/** A report of an instrumentation for people. */
export function formatReport(heading: string, report: InstrumentReport, durationMs: number): string {
  const { tracedFunctions, totalFunctions, addedImports, inputBytes, outputBytes, buildId } = report;
  const change = inputBytes === 0 ? 0 : ((outputBytes - inputBytes) / inputBytes) * 100;
  return [
    heading,
    `  functions  ${formatNumber(tracedFunctions)} of ${formatNumber(totalFunctions)} traced`,
    `  imports    ${addedImports.length === 0 ? 'none added' : `${addedImports.join(', ')} added`}`,
    `  size       ${formatNumber(inputBytes)} → ${formatNumber(outputBytes)} bytes (${percents.format(change)} %)`,
    ...(buildId === undefined ? [] : [`  build ID   ${buildId.input} → ${buildId.output}`]),
    `  time       ${durationMs.toFixed(0)} ms`,
    ...shownNotes(report.notes).map((text) => `  note       ${text}`),
  ].join('\n');
}

/** The notes as texts, the last of which counts those that are left out. */
export function shownNotes(notes: readonly Note[]): string[] {
  const shown = notes.length > maxShownNotes ? notes.slice(0, maxShownNotes - 1) : notes;
  const texts = shown.map(({ message }) => printable(message));
  const rest = notes.length - shown.length;
  return rest === 0 ? texts : [...texts, `${formatNumber(rest)} more; --json has them all`];
}

/**
 * The functions as a table, in pieces of some thousand lines: there may be a million. The names, which are of any length,
 * come last; numbers are plain, for `sort -n`.
 */
export function* formatFunctions(functions: readonly FunctionDescription[], style: Style): Generator<string> {
  const largest = functions.reduce((most, { bodyBytes = 0 }) => Math.max(most, bodyBytes), 0);
  const indexWidth = Math.max('index'.length, String(functions.length).length);
  const sizeWidth = Math.max('import'.length, String(largest).length);
  yield `${style.dim(`${'index'.padStart(indexWidth)}  ${'bytes'.padStart(sizeWidth)}  traced  name`)}\n`;
  const linesPerPiece = 4096;
  for (let from = 0; from < functions.length; from += linesPerPiece) {
    const lines = functions.slice(from, from + linesPerPiece).map((described) => {
      const size = described.bodyBytes === undefined ? 'import' : String(described.bodyBytes);
      const traced = described.isTraced ? 'yes   ' : style.dim('no    ');
      return `${String(described.index).padStart(indexWidth)}  ${size.padStart(sizeWidth)}  ${traced}  ${nameOf(described, style)}\n`;
    });
    yield lines.join('');
  }
}

/** A name with the others that a configuration may speak of the function by. */
function nameOf({ name, nameSource, exportNames, import: from }: FunctionDescription, style: Style): string {
  const others = exportNames.filter((other) => other !== name).map((other) => `exported as ${printable(other)}`);
  const imported = from && `${from.module}.${from.name}`;
  if (imported !== undefined && imported !== name) others.push(`imported as ${printable(imported)}`);
  const shown = nameSource === 'none' ? style.dim(name) : printable(name);
  return others.length === 0 ? shown : `${shown}  ${style.dim(`(${others.join(', ')})`)}`;
}
