import { gzipSync } from 'node:zlib';
import { heapPprof, pprof } from '@tenon/trace/formats';
import { InvalidArgumentError } from 'commander';
import { standardStream, writeOutput } from '../files.ts';
import type { Io } from '../io.ts';
import type { Trace } from './formats.ts';

/** The files of a trace for pprof. */
export interface ProfileFlags {
  readonly pprof?: string;
  readonly heapProfile?: string;
}

/** For an option that takes a file. */
export function profileFile(text: string): string {
  if (text !== standardStream) return text;
  throw new InvalidArgumentError('Name a file: stdout is for the program.');
}

/** Writes the files that the flags name. */
export async function writeProfiles(
  io: Io,
  module: Uint8Array<ArrayBuffer>,
  { spans, heap, title }: Trace,
  { pprof: timeFile, heapProfile: heapFile }: ProfileFlags,
): Promise<void> {
  const write = (path: string, profile: Uint8Array) =>
    io.interruptible((signal) => writeOutput(io, path, gzipSync(profile), signal));
  if (timeFile === undefined && heapFile === undefined) return;
  const options = { fileName: title, buildId: buildIdOf(module) };
  if (timeFile !== undefined) await write(timeFile, pprof(spans, options));
  if (heapFile !== undefined && heap !== undefined) await write(heapFile, heapPprof(heap, options));
}

/** The build id that the linker wrote, in hexadecimal. A byte with its length comes before it. */
function buildIdOf(module: Uint8Array<ArrayBuffer>): string | undefined {
  const compiled = new WebAssembly.Module(module, { builtins: ['js-string'] });
  const [section] = WebAssembly.Module.customSections(compiled, 'build_id');
  return section && Buffer.from(section).subarray(1).toString('hex');
}
