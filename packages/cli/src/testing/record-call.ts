import { existsSync } from 'node:fs';
import type { Fixture } from '@tenon/protocol';
import type { Ending } from '@tenon/run-kit';
import { readInput, writeFileWhole } from '../files.ts';
import type { Io } from '../io.ts';
import { parseFixtures } from './fixtures-file.ts';

/** A call of a plugin that ended. */
export interface RecordedCall {
  readonly exportName: string;
  readonly input: Uint8Array;
  readonly ending: Ending;
  readonly output: Uint8Array | undefined;
}

/**
 * Adds a call to a file of fixtures, which is created if it doesn't exist.
 *
 * @returns whether the file did not have the fixture
 * @throws CliError for a file with something else
 */
export async function recordCall(io: Pick<Io, 'stdin'>, file: string, call: RecordedCall): Promise<boolean> {
  const fixture = fixtureOf(call);
  if (fixture === undefined) return false;
  const present = existsSync(file) ? parseFixtures(await readInput(io, file, 'the fixtures'), file) : [];
  if (present.some((each) => JSON.stringify(each) === JSON.stringify(fixture))) return false;
  const text = `${JSON.stringify([...present, fixture], null, 2)}\n`;
  await writeFileWhole(file, (handle) => handle.writeFile(text));
  return true;
}

/** @returns `undefined` for a call that was stopped */
function fixtureOf({ exportName, input, ending, output }: RecordedCall): Fixture | undefined {
  const value = memoryValue(input);
  const call = {
    export: exportName,
    ...(typeof value === 'string' ? { input: value } : { inputBase64: value.base64 }),
  };
  if (ending.kind === 'returned') return { ...call, expect: { equals: memoryValue(output ?? new Uint8Array()) } };
  return ending.kind === 'failed' ? { ...call, expect: { fails: true } } : undefined;
}

function memoryValue(bytes: Uint8Array): string | { base64: string } {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') };
  }
}
