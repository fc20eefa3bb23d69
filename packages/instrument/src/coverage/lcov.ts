import type { CoverageReport } from './report.ts';
import { totalsOf } from './report.ts';

/**
 * Formats a report as LCOV, for genhtml, editors, and coverage services. https://manpages.debian.org/geninfo.1
 * It has no branches: blocks are counted, and not the ways between them.
 */
export function lcov({ files }: CoverageReport): string {
  return files
    .map((file) => {
      const { lines, functions } = totalsOf(file);
      return [
        'TN:',
        `SF:${oneLine(file.path)}`,
        ...file.functions.map(({ name, line }) => `FN:${line},${functionName(name)}`),
        ...file.functions.map(({ name, count }) => `FNDA:${count},${functionName(name)}`),
        `FNF:${functions.total}`,
        `FNH:${functions.covered}`,
        ...file.lines.map(({ line, count }) => `DA:${line},${count}`),
        `LF:${lines.total}`,
        `LH:${lines.covered}`,
        'end_of_record\n',
      ].join('\n');
    })
    .join('');
}

/** Readers take what stands before a comma for a line number, or the comma for the end of the name. */
function functionName(name: string): string {
  return oneLine(name).replace(/, ?/g, ';');
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}
