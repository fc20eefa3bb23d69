/** A position in a text, counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

const keyPart = String.raw`(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')`;
const keyPath = String.raw`${keyPart}(?:\s*\.\s*${keyPart})*`;
const header = new RegExp(String.raw`^\s*\[\s*(${keyPath})\s*\]`);
const assignment = new RegExp(String.raw`^\s*(${keyPath})\s*=`);

/**
 * Where a key stands in a TOML document that has been parsed already, else the table that it is in, else the beginning. The
 * parser keeps no positions; line by line is enough to tell a person where to look.
 */
export function positionOfKey(text: string, path: readonly string[]): Position {
  let best: Position & { depth: number } = { line: 1, column: 1, depth: 0 };
  let table: readonly string[] = [];
  let closing: string | undefined; // of a text of several lines
  for (const [at, line] of text.split('\n').entries()) {
    if (closing !== undefined) {
      if (line.includes(closing)) closing = undefined;
      continue;
    }
    const isTable = header.exec(line);
    const found = isTable ?? assignment.exec(line);
    if (found?.[1] === undefined) continue;
    const parts = partsOf(found[1]);
    const key = isTable ? parts : [...table, ...parts];
    if (isTable) table = parts;
    else closing = openedBy(line.slice(found[0].length));
    if (key.length > best.depth && key.every((part, depth) => part === path[depth])) {
      best = { line: at + 1, column: found[0].indexOf(found[1]) + 1, depth: key.length };
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
