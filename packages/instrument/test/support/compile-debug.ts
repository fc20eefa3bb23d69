import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

const run = promisify(execFile);

const programs = join(import.meta.dirname, '../debug-info/programs');

/** Tools that aren't installed, as the reason to skip a test. CI, which installs them, sets the variable: then none may be missing. */
export function whyNotCompiled(): string | false {
  const tools = ['clang', 'clang++', 'wasm-ld', 'llvm-symbolizer-14', '/usr/bin/rustc'];
  const absent = tools.filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
  if (absent.length === 0) return false;
  assert.ok(!process.env.COMPILERS_REQUIRED, `${absent.join(' and ')} should be installed`);
  return `${absent.join(' and ')} are not installed here`;
}

export interface DebugProgram {
  readonly name: string;
  readonly compiler: 'clang' | 'clang++' | '/usr/bin/rustc';
  readonly source: string;
  readonly flags: readonly string[];
}

const levels = ['0', '2'];

/** C and C++ with DWARF 4 and 5, and Rust, each without and with optimization. */
export const debugPrograms: readonly DebugProgram[] = [
  ...['4', '5'].flatMap((version) =>
    levels.flatMap((level): DebugProgram[] => {
      const flags = ['--target=wasm32-wasi', `-gdwarf-${version}`, `-O${level}`];
      return [
        { name: `C, DWARF ${version}, -O${level}`, compiler: 'clang', source: 'main.c', flags },
        {
          name: `C++, DWARF ${version}, -O${level}`,
          compiler: 'clang++',
          source: 'shapes.cpp',
          flags: [...flags, '-fno-exceptions'],
        },
      ];
    }),
  ),
  ...levels.map((level): DebugProgram => {
    const target = ['--target', 'wasm32-unknown-unknown', '--crate-type', 'cdylib'];
    const flags = [...target, '-g', '-C', `opt-level=${level}`];
    return { name: `Rust, opt-level=${level}`, compiler: '/usr/bin/rustc', source: 'shapes.rs', flags };
  }),
];

/** clang runs the `wasm-opt` that it finds, which leaves the debug information as it was before. */
export const withoutOptimizer = { ...process.env, PATH: '/usr/local/bin:/usr/bin:/bin' };

/** Compiles a program into a file. */
export async function compileDebug({ compiler, source, flags }: DebugProgram, file: string): Promise<Uint8Array> {
  // With a wasm-opt in the PATH, clang runs it, which leaves DWARF behind that describes other code.
  const env = { ...process.env, PATH: '/usr/local/bin:/usr/bin:/bin' };
  await run(compiler, [...flags, join(programs, source), '-o', file], { cwd: programs, env });
  return readFile(file);
}
