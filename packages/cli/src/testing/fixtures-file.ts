import { type Fixture, roundedInteger, roundedIntegerFault, simulationInput } from '@tenon/protocol';
import { faultsOf } from '@tenon/protocol/validate';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { count, printable } from '../text.ts';

const maxShownFaults = 10;

/**
 * Reads fixtures: a JSON list of calls and what they must return.
 *
 * @param file what to call it
 * @throws CliError `invalid_fixtures` with each fault and its place
 */
export function parseFixtures(bytes: Uint8Array, file: string): readonly Fixture[] {
  const invalid = (detail: string, cause?: unknown) =>
    new CliError('invalid_fixtures', `${printable(file)} has no valid fixtures: ${detail}`, {
      exitCode: exitCodes.refused,
      cause,
    });
  let fixtures: unknown;
  try {
    fixtures = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw invalid(printable((cause as Error).message), cause);
  }
  const faults = faultsOf(simulationInput, { fixtures });
  const rounded = faults.length === 0 ? roundedInteger(fixtures as readonly Fixture[]) : undefined;
  if (rounded !== undefined) throw invalid(`${printable(rounded)} ${roundedIntegerFault}`);
  if (faults.length === 0) return fixtures as readonly Fixture[];
  const lines = faults.slice(0, maxShownFaults).map(({ pointer, detail }) => {
    return `  ${printable(pointer.replace(/^\/fixtures/, '') || 'the list')} ${printable(detail)}`;
  });
  throw invalid(`${count(faults.length, 'fault')}\n${lines.join('\n')}`);
}
