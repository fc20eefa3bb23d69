import { parentPort, workerData } from 'node:worker_threads';
import { countWithBinaryen } from '../../../../test/helpers/real-programs/binaryen-count.ts';
import { interceptEngine } from '../../../../test/helpers/real-programs/engine.ts';
import { scenarios } from '../../../../test/helpers/real-programs/scenarios.ts';
import { describeModule, instrument } from '../../src/index.ts';
import { corpusScenarios } from './corpus-scenarios.ts';
import { createTrace } from './trace.ts';

export type Mode = 'plain' | 'traced' | 'counted' | 'probed' | 'allocators';

/** What came of one run of a scenario. Counts are by function index in the input. */
export interface Outcome {
  readonly result: unknown;
  /** Modules that were compiled, and whether the output validated. */
  readonly modules: { readonly inputBytes: number; readonly outputBytes: number; readonly isValid: boolean }[];
  readonly calls: Map<number, number>;
  /** Calls of imports as JavaScript saw them, by `module.field`. */
  readonly importCalls: Map<string, number>;
  /** Calls of imports as `enter` reported them, by `module.field`. */
  readonly importEnters: Map<string, number>;
  /** Calls of allocators, and those that did not end. */
  readonly allocators: { readonly calls: number; readonly open: number };
  /** Calls that the host unwound. */
  readonly leftByHost: number;
  readonly fault: string | undefined;
}

const { scenario, mode } = workerData as { scenario: string; mode: Mode };
const trace = createTrace(0, true);
const counted = new Map<number, number>();
const importCalls = new Map<string, number>();
const modules: { inputBytes: number; outputBytes: number; isValid: boolean }[] = [];
let importNames: string[] = [];
let shift = 0;

const allocators = { calls: 0, open: 0 };
const allocatorHooks = {
  'allocator-enter'() {
    allocators.calls++;
    allocators.open++;
  },
  'allocator-exit'() {
    allocators.open--;
  },
};

const bump = <Key>(map: Map<Key, number>, key: Key) => map.set(key, (map.get(key) ?? 0) + 1);

function transform(bytes: Uint8Array): Uint8Array {
  const names = describeModule(bytes).imports.flatMap(({ module, name, kind }) =>
    kind === 'function' ? [`${module}.${name}`] : [],
  );
  // Those that follow are made by Emscripten around one function each, which they export as they import it.
  const isFirst = modules.length === 0;
  if (isFirst) importNames = names;
  const output = transforms[mode](bytes, isFirst);
  const isValid = WebAssembly.validate(new Uint8Array(output));
  modules.push({ inputBytes: bytes.length, outputBytes: output.length, isValid });
  return output;
}

const transforms: Readonly<Record<Mode, (bytes: Uint8Array, isFirst: boolean) => Uint8Array>> = {
  plain: (bytes) => bytes,
  counted: countWithBinaryen,
  traced,
  allocators: (bytes) => instrument(bytes, { trace: false, memory: true }).bytes,
  probed: (bytes) => instrument(bytes, { trace: false, coverage: true, fuel: Number.MAX_SAFE_INTEGER }).bytes,
};

function traced(bytes: Uint8Array, isFirst: boolean): Uint8Array {
  const { bytes: output, report } = instrument(bytes);
  if (isFirst) shift = report.addedImports.length;
  return output;
}

function faultOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return String(error);
  }
}

interceptEngine({
  transform,
  imports: () => ({
    ...trace.imports,
    'tenon:instrument': allocatorHooks,
    'tenon-test': { count: (index: number) => bump(counted, index) },
  }),
  onImportCall: (name) => bump(importCalls, name),
});
const result = await { ...scenarios, ...corpusScenarios }[scenario]?.();
const isImport = (index: number) => index < importNames.length;
const entered = [...trace.calls];
const outcome: Outcome = {
  result,
  modules,
  calls:
    mode === 'traced'
      ? new Map(entered.flatMap(([index, n]) => (isImport(index) ? [] : [[index - shift, n]])))
      : counted,
  importCalls,
  importEnters: new Map(entered.flatMap(([index, n]) => (isImport(index) ? [[importNames[index] as string, n]] : []))),
  allocators,
  leftByHost: trace.leftByHost(),
  fault: faultOf(trace.assertBalanced),
};
parentPort?.postMessage(outcome);
