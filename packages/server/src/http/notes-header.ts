/** What the header field with the notes may be long. */
const maxNotesBytes = 4096;

/**
 * The notes as a header field can carry them: a JSON array in ASCII of at most 4 KiB. When not all fit, the last entry says how
 * many were left out.
 */
export function notesHeader(notes: readonly string[]): string {
  const entries = notes.map((note) => asciiJson(note));
  let length = 2;
  let shown = 0;
  // Room for the count is kept until the last note is in.
  const room = (index: number): number => (index === entries.length - 1 ? 0 : leftOut(entries.length).length + 1);
  for (const [index, entry] of entries.entries()) {
    const grown = length + entry.length + (index === 0 ? 0 : 1);
    if (grown + room(index) > maxNotesBytes) break;
    length = grown;
    shown++;
  }
  const rest = entries.length - shown;
  return `[${[...entries.slice(0, shown), ...(rest > 0 ? [leftOut(rest)] : [])].join(',')}]`;
}

function leftOut(count: number): string {
  return JSON.stringify(`${count} more ${count === 1 ? 'note was' : 'notes were'} left out`);
}

function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
