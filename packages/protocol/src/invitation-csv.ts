import { CsvError, csvLine, parseCsv } from './csv.ts';
import type { InvitationResult, InvitationRow } from './guests.ts';
import { maxInvitationsAtOnce } from './list-limits.ts';
import { guestKeyFault, invitationTextLengths, isDisplayName } from './names.ts';

/* Guests to invite as a CSV file, and the results of the invitations. */

/** The maximum number of rows of a file. */
export const maxCsvInvitations = 50_000;

/** The columns of a file. Only the first one is required. */
export const csvColumns = ['guestKey', 'name', 'email', 'label', 'note'] as const;

/** A row of a file. */
export interface CsvInvitation {
  /** The number of its first line. */
  readonly line: number;
  readonly row: InvitationRow;
  /** Why the server would refuse it, as sentences. */
  readonly faults: readonly string[];
}

export interface InvitationCsv {
  readonly invitations: readonly CsvInvitation[];
  /** The headers of columns with another name than {@link csvColumns}. */
  readonly ignored: readonly string[];
}

/**
 * Reads the rows of a CSV file whose first line has the names of the columns, in any order. Case, spaces, hyphens and underscores in
 * names don't matter.
 *
 * @throws CsvError if it is not CSV, or has no guest keys
 */
export function readInvitationCsv(text: string): InvitationCsv {
  const [header, ...rows] = parseCsv(text, maxCsvInvitations + 1);
  const names = (header?.cells ?? []).map(columnOf);
  if (!names.includes('guestKey')) {
    throw new CsvError(`The first line must have the names of the columns: ${csvColumns.join(',')}.`);
  }
  const repeated = names.find((name, at) => name !== undefined && names.indexOf(name) !== at);
  if (repeated !== undefined) throw new CsvError(`The first line has the column ${repeated} twice.`);
  const lines = new Map<string, number>();
  const invitations = rows.map(({ line, cells }): CsvInvitation => {
    const filled = names.flatMap((name, at) => {
      const value = cells[at]?.trim();
      return name === undefined || !value ? [] : [[name, value] as const];
    });
    const row: InvitationRow = { guestKey: '', ...Object.fromEntries(filled) };
    const person = JSON.stringify([row.guestKey, row.email ?? [row.name]]);
    const first = lines.get(person);
    if (first === undefined) lines.set(person, line);
    const repeats = first === undefined ? [] : [`The row repeats line ${first}.`];
    return { line, row, faults: [...rowFaults(row), ...repeats] };
  });
  const ignored = (header?.cells ?? []).filter((name, at) => names[at] === undefined && name.trim() !== '');
  return { invitations, ignored };
}

function columnOf(header: string): (typeof csvColumns)[number] | undefined {
  const plain = header.toLowerCase().replace(/[\s_-]/g, '');
  return csvColumns.find((name) => name.toLowerCase() === plain);
}

function rowFaults(row: InvitationRow): string[] {
  if (row.guestKey === '') return ['The guest key is missing.'];
  const fault = guestKeyFault(row.guestKey);
  const faults = fault === undefined ? [] : [`A guest key ${fault}.`];
  for (const [name, maxLength] of Object.entries(invitationTextLengths)) {
    const text = row[name as keyof typeof invitationTextLengths] ?? '';
    if ([...text].length > maxLength) faults.push(`${name} must have at most ${maxLength} characters.`);
    if (text.includes('\0')) faults.push(`${name} must not contain the character U+0000.`);
    if (text !== '' && (name === 'label' || name === 'note') && !isDisplayName(text)) {
      faults.push(`${name} must contain a visible character and no bidirectional control characters.`);
    }
  }
  return faults;
}

/** The maximum size of the rows of one request as JSON, which the limit of a server must allow. */
const maxChunkBytes = 128 * 1024;

const utf8 = new TextEncoder();

/** Splits rows into requests. */
export function invitationChunks<T extends Pick<CsvInvitation, 'row'>>(rows: readonly T[]): T[][] {
  const chunks: T[][] = [];
  let bytes = 0;
  for (const one of rows) {
    const size = utf8.encode(JSON.stringify(one.row)).length;
    const last = chunks.at(-1);
    if (last === undefined || last.length === maxInvitationsAtOnce || bytes + size > maxChunkBytes) {
      chunks.push([one]);
      bytes = size;
    } else {
      last.push(one);
      bytes += size;
    }
  }
  return chunks;
}

/** The header of a file of results. */
export const resultCsvHeader = csvLine([...csvColumns.slice(0, 4), 'outcome', 'link', 'expiresAt', 'error']);

/** A line of a file of results. */
export function resultCsvLine(row: InvitationRow, { outcome, link, expiresAt, error }: InvitationResult): string {
  const { guestKey, name = '', email = '', label = '' } = row;
  return csvLine([guestKey, name, email, label, outcome, link ?? '', expiresAt ?? '', error?.detail ?? '']);
}
