/** A position in a text, counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

const keyPart = String.raw`(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')`;
const keyPath = String.raw`${keyPart}(?:\s*\.\s*${keyPart})*`;
const header = new RegExp(String.raw`^\s*(\[?)\[\s*(${keyPath})\s*\]`);
const assignment = new RegExp(String.raw`^\s*(${keyPath})\s*=`);

/**
 * Where a key stands in a TOML document that has been parsed already, else the table that it is in, else the beginning. The
 * parser keeps no positions; line by line is enough to tell a person where to look. The path of what is below `[[a]]` has its
 * index: `a`, `0`.
 */
export function positionOfKey(text: string, path: readonly string[]): Position {
  let best: Position & { depth: number } = { line: 1, column: 1, depth: 0 };
  let table: readonly string[] = [];
  const lengths = new Map<string, number>(); // of lists of tables
  let closing: string | undefined; // of a text of several lines
  for (const [at, line] of text.split('\n').entries()) {
    if (closing !== undefined) {
      if (line.includes(closing)) closing = undefined;
      continue;
    }
    const isTable = header.exec(line);
    const found = isTable ?? assignment.exec(line);
    const written = isTable ? isTable[2] : found?.[1];
    if (found === null || written === undefined) continue;
    const parts = partsOf(written);
    const index = lengths.get(written) ?? 0;
    if (isTable?.[1]) {
      lengths.set(written, index + 1);
      parts.push(String(index));
    }
    const key = isTable ? parts : [...table, ...parts];
    if (isTable) table = parts;
    else closing = openedBy(line.slice(found[0].length));
    if (key.length > best.depth && key.every((part, depth) => part === path[depth])) {
      best = { line: at + 1, column: found[0].indexOf(written) + 1, depth: key.length };
    }
  }
  return { line: best.line, column: best.column };
}

/** The quotes that end the text which a value begins and doesn't end. */
function openedBy(value: string): string | undefined {
  const quotes = /^\s*("""|''')/.exec(value)?.[1];
  return quotes === undefined || value.trimStart().slice(3).includes(quotes) ? undefined : quotes;
}

function partsOf(path: string): string[] {
  return (path.match(new RegExp(keyPart, 'g')) ?? []).map((part) => part.replace(/^(["'])(.*)\1$/, '$2'));
}
