import {
  kernelModule,
  type ModuleInterface,
  olderModule,
  userModule,
  wasiModule,
} from '@tenon/extension-schema/interface-check';
import { type Fixture, maxSimulationTextBytes, type SimulationInput } from '@tenon/protocol';
import type { Deps } from '../deps.ts';
import { DomainError, invalidField } from '../http/domain-errors.ts';
import type { JobOptions } from '../plugins/module-checker.ts';

/** The import module of the functions that a test module calls. */
export const harnessModule = 'xtp:test/harness';

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
  const check = async (pointer: string, base64: string | undefined): Promise<CheckedModule | undefined> => {
    if (base64 === undefined) return undefined;
    const bytes = decodeBase64(pointer, base64);
    const { maxModuleBytes } = settings;
    if (bytes.length > maxModuleBytes) throw invalidField(pointer, `must have at most ${maxModuleBytes} bytes`);
    return { bytes, found: await readInterface(checker, pointer, bytes, jobOptions) };
  };
  const test = (await check('/testModuleBase64', testModuleBase64)) as CheckedModule;
  requireTest(test.found);
  const mock = await check('/mockHostBase64', mockHostBase64);
  if (mock !== undefined) requireMockHost(mock.found);
  return { testModule: test.bytes, mockHost: mock?.bytes ?? null, mockInput: decodeMockInput(input), fixtures: null };
}

interface CheckedModule {
  readonly bytes: Uint8Array;
  readonly found: ModuleInterface;
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

function requireTest({ exports, imports }: ModuleInterface): void {
  const pointer = '/testModuleBase64';
  const test = exports.find(({ name }) => name === 'test');
  const isTest = test?.type?.params.length === 0 && test.type.results.join() === 'i32';
  if (!isTest) throw invalidField(pointer, 'must export a function "test" without parameters that returns an i32');
  requireImportsOf(pointer, imports, [harnessModule, kernelModule, olderModule, wasiModule]);
}

function requireMockHost({ exports, imports }: ModuleInterface): void {
  const pointer = '/mockHostBase64';
  if (!exports.some(({ kind }) => kind === 'function')) {
    throw invalidField(pointer, 'must export the host functions that plugins import');
  }
  requireImportsOf(pointer, imports, [kernelModule, olderModule, wasiModule]);
}

function requireImportsOf(pointer: string, imports: ModuleInterface['imports'], allowed: readonly string[]): void {
  const other = imports.find(({ module }) => !allowed.includes(module));
  if (other === undefined) return;
  const hint = other.module === userModule ? ' Host functions belong to a mock host, for the plugin.' : '';
  throw invalidField(
    pointer,
    `must import only from ${allowed.join(', ')}, not ${JSON.stringify(`${other.module}.${other.name}`.slice(0, 200))}.${hint}`,
  );
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
