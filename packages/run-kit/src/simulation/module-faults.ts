import type { ExportDescription, FunctionSignature, ImportDescription } from '@tenon/instrument';
import { missingImports } from '../plan.ts';

/*
 * The interface of test modules and mock hosts, as the SDKs of XTP's test harness emit it. `i64` parameters and results are
 * addresses of blocks of shared memory, apart from `assert`'s value and `time`'s result. Older SDKs call `assert` without a reason.
 */

/** The import module of the functions that a test module calls. */
export const harnessModule = 'xtp:test/harness';

/** What a test module exports. */
export const testExport = 'test';

/** The imports and exports of a module. */
export interface ModuleTypes {
  readonly imports: readonly ImportDescription[];
  readonly exports: readonly ExportDescription[];
}

/** What `test` returns. Nothing counts as 0. */
const testResults = ['', 'i32', 'i64'];

const signature = (params: string, results: string): FunctionSignature => ({
  params: params.split(' ').filter((type) => type !== ''),
  results: results.split(' ').filter((type) => type !== ''),
});

type Signatures = ReadonlyMap<string, readonly FunctionSignature[]>;

const mockInput: [string, readonly FunctionSignature[]] = ['mock_input', [signature('', 'i64')]];

const testFunctions: Signatures = new Map<string, readonly FunctionSignature[]>([
  ['call', [signature('i64 i64', 'i64')]],
  ['time', [signature('i64 i64', 'i64')]],
  [
    'assert',
    [signature('i64 i64 i64', ''), signature('i64 i32 i64', ''), signature('i64 i64', ''), signature('i64 i32', '')],
  ],
  ['group', [signature('i64', '')]],
  ['reset', [signature('', '')]],
  mockInput,
]);

const mockHostFunctions: Signatures = new Map([mockInput]);

/** Why a module can't be a test module, such as `must export a function "test"`; `undefined` if it can. */
export function testModuleFault({ imports, exports }: ModuleTypes): string | undefined {
  const found = exports.find(({ name, kind }) => name === testExport && kind === 'function');
  if (found?.type === undefined) return 'must export a function "test"';
  if (found.type.params.length > 0 || !testResults.includes(found.type.results.join(' '))) {
    return `must export "test" as () -> i32, not as ${typeText(found.type)}`;
  }
  return importFault(imports, testFunctions);
}

/** Why a module can't be a mock host; `undefined` if it can. */
export function mockHostFault({ imports, exports }: ModuleTypes): string | undefined {
  if (!exports.some(({ kind }) => kind === 'function')) return 'must export the host functions that plugins import';
  return importFault(imports, mockHostFunctions);
}

/** Other imports than those of Extism, WASI and the harness have no provider. */
function importFault(imports: readonly ImportDescription[], harness: Signatures): string | undefined {
  for (const { module, name, kind, type } of missingImports(imports)) {
    if (kind === 'memory') continue;
    const known = module === harnessModule ? harness.get(name) : undefined;
    if (known === undefined || type === undefined) {
      const functions = [...harness.keys()].join(', ');
      return `must not import ${shown(`${module}.${name}`)}; ${harnessModule} has ${functions}`;
    }
    if (!known.some((each) => typeText(each) === typeText(type))) {
      return `must import ${name} as ${known.map(typeText).join(' or ')}, not as ${typeText(type)}`;
    }
  }
  return undefined;
}

/** Quotes a name of a module, which is untrusted. */
function shown(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200).toWellFormed()}…` : name);
}

/** A function's type as messages show it: `(i64, i64) -> i64`. */
export function typeText({ params, results }: FunctionSignature): string {
  return `(${params.join(', ')}) -> ${results.length === 1 ? results[0] : `(${results.join(', ')})`}`;
}
