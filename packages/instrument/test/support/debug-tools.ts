import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withoutOptimizer } from './compile-debug.ts';

const programs = join(import.meta.dirname, '../debug-info/programs');

function runTool(tool: string, flags: readonly string[], input?: string): string {
  const { status, stdout, stderr } = spawnSync(tool, flags, {
    cwd: programs,
    env: withoutOptimizer,
    input,
    maxBuffer: 2 ** 30,
    encoding: 'utf8',
  });
  assert.equal(status, 0, `${tool} ${flags.join(' ')}: ${stderr}`);
  return stdout;
}

/** Compiles a program of two files that needs no library. It exports `run` and `trap`, and imports `env.log`. */
export async function compileTwoFiles(flags: readonly string[], file: string): Promise<Uint8Array> {
  const own = ['--target=wasm32', '-nostdlib', '-Wl,--no-entry', 'run.c', 'other.c', '-o', file];
  runTool('clang', [...flags, ...own]);
  return readFile(file);
}

/** The function, file, line and column at each address, with those of the calls that were inlined there. */
export function symbolize(file: string, addresses: readonly number[]): string[] {
  const input = addresses.map((address) => `0x${address.toString(16)}\n`).join('');
  const flags = ['--inlines', '--no-demangle', '--output-style=LLVM', `--obj=${file}`];
  return runTool('llvm-symbolizer-14', flags, input).trimEnd().split('\n\n');
}

/** The errors that `llvm-dwarfdump --verify` finds. */
export function verifyErrors(file: string): string[] {
  const { stdout, stderr } = spawnSync('llvm-dwarfdump-14', ['--verify', file], {
    maxBuffer: 2 ** 30,
    encoding: 'utf8',
  });
  return `${stdout}\n${stderr}`.split('\n').filter((line) => /^(?:error|warning):/.test(line));
}

/** The lines of a dump of debug sections, without offsets of debug sections. */
export function dumpDebugInfo(file: string, flags: readonly string[]): string[] {
  return runTool('llvm-dwarfdump-14', [...flags, file])
    .replaceAll(/(debug_line\[|total_length: |unit_length: |debug_line_offset = )0x[0-9a-f]+/g, '$1')
    .replaceAll(/(loclist|rangelist) = 0x[0-9a-f]{8}/g, '$1')
    .replaceAll(/(DW_AT_(?:stmt_list|ranges|location|rnglists_base|loclists_base)\s*\()0x[0-9a-f]{8}/g, '$1')
    .split('\n')
    .slice(1);
}

/** Maps the addresses in a dump: ranges, rows of line tables, and attributes. */
export function mapDump(lines: readonly string[], map: (address: number) => number): string[] {
  const hex = (address: string) => {
    const moved = map(Number.parseInt(address, 16));
    return `0x${moved.toString(16).padStart(address.length - 2, '0')}`;
  };
  return lines.map((line, at) => {
    // The address is a length, of code that the linker removed.
    if (lines[at - 1]?.includes('(dead code)')) return line;
    return line
      .replace(/\[(0x[0-9a-f]+), (0x[0-9a-f]+)\)/, (_, low: string, high: string) => `[${hex(low)}, ${hex(high)})`)
      .replace(/^(0x[0-9a-f]{16})(?= +\d)/, (_, address: string) => hex(address))
      .replace(
        /(DW_AT_(?:low_pc|high_pc|entry_pc|call_return_pc|call_pc)\s*\()(0x[0-9a-f]+)/,
        (_, name: string, address: string) => name + hex(address),
      );
  });
}

/** Like `deepEqual()`, for long lists of texts: shows the first difference alone. */
export function assertSameTexts(found: readonly string[], expected: readonly string[], what: string): void {
  const differs = expected.findIndex((text, index) => text !== found[index]);
  const around = (texts: readonly string[]) => texts.slice(Math.max(0, differs - 4), differs + 2);
  if (differs !== -1) assert.deepEqual(around(found), around(expected), what);
  assert.equal(found.length, expected.length, what);
}
