/* CSV (RFC 4180). */

/** Spreadsheets evaluate such a cell: https://owasp.org/www-community/attacks/CSV_Injection */
const startsFormula = /^'*[=+\-@\t\r\n]/;

/** Returns a line of CSV (RFC 4180 §2). A cell that a spreadsheet could evaluate begins with an apostrophe. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(text: string): string {
  const escaped = startsFormula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
}

export interface CsvRow {
  /** The number of its first line, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A text that is not CSV. */
export class CsvError extends Error {
  override readonly name = 'CsvError';
}

/**
 * Parses CSV with commas, semicolons or tabs: whichever occurs first in the header. Accepts a byte order mark, any line ends, and
 * leaves out blank lines. Takes off the apostrophes of {@link csvLine}.
 *
 * @throws CsvError for more than `maxRows` rows, and for a quoted cell without an end
 */
export function parseCsv(source: string, maxRows: number): CsvRow[] {
  const text = source.startsWith('\ufeff') ? source.slice(1) : source;
  const separator = /^[^,;\t\r\n]*([,;\t])/.exec(text)?.[1] ?? ',';
  const unquoted = new RegExp(`[^${separator}\\r\\n]*`, 'y');
  const rows: CsvRow[] = [];
  let cells: string[] = [];
  let [line, firstLine] = [1, 1];
  for (let at = 0; at < text.length || cells.length > 0; ) {
    let cell: string;
    if (text[at] === '"') {
      const end = endOfQuotes(text, at);
      if (end === -1) throw new CsvError(`The quotes that begin in line ${line} have no end.`);
      const quoted = text.slice(at + 1, end);
      cell = quoted.replaceAll('""', '"');
      line += quoted.split(/\r\n?|\n/).length - 1;
      at = end + 1;
    } else {
      cell = '';
    }
    // After quotes too: some programs write text behind them.
    unquoted.lastIndex = at;
    const rest = unquoted.exec(text)?.[0] ?? '';
    cell += rest;
    at += rest.length;
    cells.push(startsFormula.test(cell.slice(1)) && cell.startsWith("'") ? cell.slice(1) : cell);
    if (text[at] === separator) {
      at++;
      if (at < text.length) continue;
      cells.push('');
    }
    if (cells.some((one) => one.trim() !== '')) {
      if (rows.length === maxRows) throw new CsvError(`There are more than ${maxRows.toLocaleString('en')} rows.`);
      rows.push({ line: firstLine, cells });
    }
    cells = [];
    at += text.startsWith('\r\n', at) ? 2 : 1;
    line++;
    firstLine = line;
  }
  return rows;
}

/** Returns the index of the quote that ends a quoted cell; -1 without one. */
function endOfQuotes(text: string, start: number): number {
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at === -1 || text[at + 1] !== '"') return at;
  }
}
