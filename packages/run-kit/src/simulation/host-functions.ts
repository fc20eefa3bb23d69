import { functionNames } from '@tenon/extension-schema/interface-check';
import type { ImportDescription } from '@tenon/instrument';
import type { Fixture, HostValue } from '@tenon/protocol';
import { RunFailure } from '../ending.ts';
import { functionOf } from '../initialize.ts';
import { describeRaw, matchesRaw, shownValue, toRaw } from './host-values.ts';
import type { Kernel } from './kernel.ts';
import { type ModuleInstance, messageOf, reasonOf, SimulationFailure, type SimulationModule } from './module.ts';
import { harnessModule, mockHostFault, typeText } from './module-faults.ts';

/* The host functions that a plugin imports: the exports of a mock host, or the calls that a fixture lists. */

export type FunctionImport = ImportDescription & { readonly type: NonNullable<ImportDescription['type']> };

/** Creates the functions for a new instance of the plugin. */
export interface HostFunctions {
  readonly create: (imports: readonly FunctionImport[], kernel: Kernel) => HostInstance;
}

export interface HostInstance {
  readonly call: (target: FunctionImport, args: readonly unknown[]) => unknown;
  /** Call it after each call of the plugin. */
  readonly flush: () => void;
}

/** Host functions of a simulation without a mock host. */
export const noHostFunctions: HostFunctions = {
  create([first]) {
    if (first !== undefined) {
      const { module, name } = first;
      throw new SimulationFailure(
        `The plugin imports ${module}.${name}, but the simulation has no mock host, which would provide it`,
      );
    }
    return { call: () => undefined, flush() {} };
  },
};

/**
 * Host functions that a mock host exports. It shares memory and variables with the plugin. Besides Extism's functions and
 * WASI, it can import `mock_input`.
 */
export function mockHostFunctions(
  mockHost: SimulationModule,
  mockInput: Uint8Array | undefined,
  onLine: (stream: string, text: string) => void,
): HostFunctions {
  const fault = mockHostFault(mockHost.description);
  if (fault !== undefined) throw new SimulationFailure(`The mock host ${fault}`);
  return {
    create(imports, kernel) {
      for (const target of imports) checkProvided(target, mockHost);
      const harness = {
        [harnessModule]: { mock_input: () => (mockInput === undefined ? 0n : kernel.blocks.put(mockInput)) },
      };
      let instance: ModuleInstance;
      try {
        instance = mockHost.instantiate([kernel.host.imports, harness], onLine);
      } catch (error) {
        if (error instanceof SimulationFailure) throw error;
        throw new SimulationFailure(`The mock host does not start: ${reasonOf(error)}`);
      }
      const functions = new Map(imports.map(({ name }) => [name, functionOf(instance.exports, name)]));
      return {
        call({ name }, args) {
          instance.refuel();
          try {
            const result = functions.get(name)?.(...args);
            instance.check();
            return result;
          } catch (error) {
            const ended = instance.outOfFuel(`The mock host's function ${name}`);
            throw ended ?? new RunFailure(`the mock host's function ${name} failed: ${reasonOf(error)}`);
          }
        },
        flush: instance.flush,
      };
    },
  };
}

function checkProvided({ module, name, type }: FunctionImport, { description }: SimulationModule): void {
  const found = description.exports.find((each) => each.kind === 'function' && each.name === name);
  if (found === undefined) {
    throw new SimulationFailure(`The plugin imports ${module}.${name}, which the mock host does not export`);
  }
  const [wanted, provided] = [typeText(type), typeText(found.type ?? { params: [], results: [] })];
  if (wanted !== provided) {
    throw new SimulationFailure(
      `The plugin imports ${module}.${name} as ${wanted}; the mock host exports it as ${provided}`,
    );
  }
}

/** Compares the host calls of a plugin with those that a fixture lists, in order. */
export interface ListedCalls extends HostFunctions {
  /** The first difference; `undefined` if the plugin made exactly the listed calls. */
  readonly difference: () => string | undefined;
}

export function listedCalls(hostCalls: NonNullable<Fixture['hostCalls']> | undefined, schema: unknown): ListedCalls {
  const listed = hostCalls ?? [];
  let made = 0;
  let wrong: string | undefined;
  const fail = (message: string): never => {
    wrong ??= message;
    throw new RunFailure(message);
  };
  const call = (kernel: Kernel, { name, type }: FunctionImport, args: readonly unknown[]): unknown => {
    const shown = () => `${name}(${args.map((arg) => shownValue(describeRaw(arg, kernel, () => {}))).join(', ')})`;
    const next = listed[made];
    made += 1;
    if (next === undefined) {
      return fail(
        listed.length === 0
          ? `The plugin called ${shown()}; the fixture lists no calls of host functions`
          : `Host call ${made}: the plugin called ${shown()}; the fixture lists only ${listed.length}`,
      );
    }
    const declared = declaredIn(schema, name);
    const matches = () =>
      next.name === name &&
      (next.args === undefined ||
        (next.args.length === args.length &&
          next.args.every((expected, index) =>
            matchesRaw(args[index], type.params[index], expected, kernel, declared.input),
          )));
    try {
      if (matches()) return toRaw(next.returns, type.results[0], kernel, declared.output);
    } catch (error) {
      return fail(`Host call ${made} of ${name}: ${messageOf(error)}`);
    }
    const expected = `${next.name}${next.args === undefined ? '' : `(${next.args.map(shownValue).join(', ')})`}`;
    return fail(`Host call ${made}: expected ${expected}, the plugin called ${shown()}`);
  };
  return {
    create: (_, kernel) => ({ call: (target, args) => call(kernel, target, args), flush() {} }),
    difference() {
      if (wrong !== undefined || made >= listed.length) return wrong;
      return `expected ${listed.length} calls of host functions, the plugin made ${made}; the next is ${listed[made]?.name}`;
    },
  };
}

/** Whether a schema declares the input and the output of a host function, which travel in blocks of memory. */
function declaredIn(schema: unknown, name: string): { readonly input: boolean; readonly output: boolean } {
  if (!functionNames(schema, 'imports').includes(name)) return { input: false, output: false };
  const { imports } = schema as { readonly imports: Readonly<Record<string, { input?: unknown; output?: unknown }>> };
  const entry = imports[name];
  return { input: entry?.input !== undefined, output: entry?.output !== undefined };
}

/** A host call for the report. */
export type ReportedHostCall = { name: string; args: HostValue[]; returns: HostValue | null };
