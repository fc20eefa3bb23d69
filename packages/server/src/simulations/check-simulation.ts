import type { ModuleInterface } from '@tenon/extension-schema/interface-check';
import {
  type Fixture,
  maxSimulationTextBytes,
  roundedInteger,
  roundedIntegerFault,
  type SimulationInput,
} from '@tenon/protocol';
import { mockHostFault, testModuleFault } from '@tenon/run-kit/module-faults';
import type { Deps } from '../deps.ts';
import { DomainError, invalidField } from '../http/domain-errors.ts';
import type { JobOptions } from '../plugins/module-checker.ts';

/** A valid draft or stored simulation, with its modules' bytes. */
export interface CheckedSimulation {
  readonly testModule: Uint8Array | null;
  readonly mockHost: Uint8Array | null;
  readonly mockInput: Uint8Array | null;
  readonly fixtures: readonly Fixture[] | null;
}

/**
 * Checks a simulation that has the right form: its modules, and its fixtures against the extension point's schema.
 *
 * @throws DomainError `invalid_field` with a pointer to the fault
 */
export async function checkSimulation(
  { checker, settings }: Pick<Deps, 'checker' | 'settings'>,
  schemaJson: string,
  input: SimulationInput,
  jobOptions?: JobOptions,
): Promise<CheckedSimulation> {
  const { fixtures, testModuleBase64, mockHostBase64 } = input;
  if (fixtures === undefined && testModuleBase64 === undefined) {
    throw invalidField('/testModuleBase64', 'is required, unless there are fixtures');
  }
  if (fixtures !== undefined) {
    const other = (['testModuleBase64', 'mockHostBase64', 'mockInput'] as const).find(
      (name) => input[name] !== undefined,
    );
    if (other !== undefined) throw invalidField(`/${other}`, 'must be absent, because there are fixtures');
    checkFixtures(fixtures, schemaJson);
    return { testModule: null, mockHost: null, mockInput: null, fixtures };
  }
  const check = async (pointer: string, base64: string, faultOf: typeof testModuleFault): Promise<Uint8Array> => {
    const bytes = decodeBase64(pointer, base64);
    const { maxModuleBytes } = settings;
    if (bytes.length > maxModuleBytes) throw invalidField(pointer, `must have at most ${maxModuleBytes} bytes`);
    const fault = faultOf(await readInterface(checker, pointer, bytes, jobOptions));
    if (fault !== undefined) throw invalidField(pointer, fault);
    return bytes;
  };
  const testModule = await check('/testModuleBase64', testModuleBase64 ?? '', testModuleFault);
  const mockHost = mockHostBase64 === undefined ? null : await check('/mockHostBase64', mockHostBase64, mockHostFault);
  return { testModule, mockHost, mockInput: decodeMockInput(input), fixtures: null };
}

async function readInterface(
  checker: Deps['checker'],
  pointer: string,
  bytes: Uint8Array,
  jobOptions: JobOptions | undefined,
): Promise<ModuleInterface> {
  try {
    const { interfaceJson } = await checker.check(bytes, undefined, jobOptions);
    if (interfaceJson === null) throw invalidField(pointer, 'has too many imports and exports');
    return JSON.parse(interfaceJson) as ModuleInterface;
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'invalid_field') throw error;
    throw invalidField(pointer, error.message);
  }
}

function decodeMockInput({ mockInput }: SimulationInput): Uint8Array | null {
  if (mockInput === undefined) return null;
  const bytes =
    typeof mockInput === 'string' ? Buffer.from(mockInput) : decodeBase64('/mockInput/base64', mockInput.base64);
  if (bytes.length > maxSimulationTextBytes) {
    throw invalidField('/mockInput', `must have at most ${maxSimulationTextBytes} bytes`);
  }
  return bytes;
}

function decodeBase64(pointer: string, text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw invalidField(pointer, 'must be base64 with padding (RFC 4648 §4)');
  return bytes;
}

function checkFixtures(fixtures: readonly Fixture[], schemaJson: string): void {
  if (Buffer.byteLength(JSON.stringify(fixtures)) > maxSimulationTextBytes) {
    throw invalidField('/fixtures', `must have at most ${maxSimulationTextBytes} bytes as JSON`);
  }
  const rounded = roundedInteger(fixtures);
  if (rounded !== undefined) throw invalidField(`/fixtures${rounded}`, roundedIntegerFault);
  const names = Object.keys((JSON.parse(schemaJson) as { readonly exports: object }).exports);
  const allowed = new Set(names);
  for (const [index, fixture] of fixtures.entries()) {
    const pointer = `/fixtures/${index}`;
    if (names.length > 0 && !allowed.has(fixture.export)) {
      throw invalidField(`${pointer}/export`, "must be an export of the extension point's schema");
    }
    if (fixture.input !== undefined && fixture.inputBase64 !== undefined) {
      throw invalidField(`${pointer}/inputBase64`, 'must be absent, because there is an input');
    }
    if (fixture.inputBase64 !== undefined) decodeBase64(`${pointer}/inputBase64`, fixture.inputBase64);
    checkExpectation(`${pointer}/expect`, fixture.expect);
  }
}

function checkExpectation(pointer: string, { fails, equals, ...output }: Fixture['expect']): void {
  if (typeof equals === 'object') decodeBase64(`${pointer}/equals/base64`, equals.base64);
  const expectsFailure = fails !== undefined && fails !== false;
  if (!expectsFailure) return;
  const [other] = Object.keys({ ...output, ...(equals !== undefined && { equals }) });
  if (other !== undefined) throw invalidField(`${pointer}/${other}`, 'must be absent, because the call must fail');
}
