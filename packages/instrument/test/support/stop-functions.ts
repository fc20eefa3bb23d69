import assert from 'node:assert/strict';
import { describeModule, instrument } from '../../src/index.ts';

const fuelOfCall = 5_000n;
/** More than any function of the specification's tests takes between two checks. */
const maxOverdraft = 20_000n;

/**
 * Calls each exported function with several sets of numbers and little fuel, in two instances. Both end alike, and with the
 * same fuel. Returns the number of calls, and how many ran out of fuel.
 */
export function stopFunctions(bytes: Uint8Array, name: string): { readonly calls: number; readonly stopped: number } {
  const { imports, exports } = describeModule(bytes);
  const needsHost = imports.some(({ kind }) => kind !== 'function');
  const functions = exports.filter((entry) => 'type' in entry && !hasOtherTypes(entry.type.params));
  if (needsHost || functions.length === 0) return { calls: 0, stopped: 0 };
  const limited = new WebAssembly.Module(instrument(bytes, { trace: false, fuel: Number(fuelOfCall) }).bytes);
  let calls = 0;
  let stopped = 0;
  const runs = [0, 1].map(() => {
    let instance: WebAssembly.Instance;
    try {
      instance = new WebAssembly.Instance(limited, stubs(imports));
    } catch (error) {
      return [String(error)];
    }
    const fuel = instance.exports['tenon:fuel'] as WebAssembly.Global;
    const endings: string[] = [];
    for (const entry of functions) {
      for (const value of [0, 1, -1, 2 ** 31 - 1]) {
        fuel.value = fuelOfCall;
        const params = 'type' in entry ? entry.type.params : [];
        const args = params.map((type) => (type === 'i64' ? BigInt(value) : value));
        const ending = endingOf(instance.exports[entry.name] as (...args: readonly unknown[]) => unknown, args);
        // How deep the engine's stack is depends on its compilers, so nothing after an overflow can be compared.
        if (ending === 'RangeError') return [...endings, ending];
        const left = fuel.value as bigint;
        calls++;
        if (left < 0n) stopped++;
        assert.ok(left > -maxOverdraft || ending !== 'an end', `${name}: ${entry.name} took ${fuelOfCall - left}`);
        endings.push(`${entry.name}(${args}): ${ending}, ${left}`);
      }
    }
    return endings;
  });
  assert.deepEqual(runs[0], runs[1], name);
  return { calls, stopped };
}

function hasOtherTypes(types: readonly string[]): boolean {
  return types.some((type) => !['i32', 'i64', 'f32', 'f64'].includes(type));
}

function stubs(imports: readonly { readonly module: string; readonly name: string }[]): WebAssembly.Imports {
  const object: Record<string, Record<string, () => number>> = {};
  for (const { module, name } of imports) {
    object[module] ??= {};
    object[module][name] = () => 0;
  }
  return object;
}

function endingOf(call: (...args: readonly unknown[]) => unknown, args: readonly unknown[]): string {
  try {
    call(...args);
    return 'an end';
  } catch (error) {
    return error instanceof WebAssembly.RuntimeError ? error.message : (error as Error).constructor.name;
  }
}
