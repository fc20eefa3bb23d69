import { ClientError } from './errors.ts';

/** The mutable global of a module with fuel: how many instructions it may still execute. */
const fuelExport = 'tenon:fuel';

/**
 * Calls an instance, which may execute a limited number of instructions: a limit that is the same in every run, also for a loop
 * that never ends. Other time limits can't stop WebAssembly in the thread of its caller. The module must have been
 * instrumented with the option `fuel`:
 *
 * ```ts
 * import { createClient } from '@tenon/client';
 * import { withFuel } from '@tenon/client/fuel';
 * import { instrument } from '@tenon/instrument';
 *
 * const client = createClient({
 *   ...options,
 *   transform: (module) => instrument(module, { trace: false, fuel: 1e9 }).bytes,
 * });
 * const instance = await WebAssembly.instantiate(await client.load(key), imports);
 * const result = withFuel(instance, 1e9, () => instance.exports.run());
 * ```
 *
 * With Extism, the instance is `await plugin.getInstance()`. Create a new instance after `out_of_fuel`, because the
 * module has stopped anywhere.
 *
 * @param instructions more than 0, up to 2^53 - 1
 * @throws ClientError `out_of_fuel` if the call executed more; `invalid_argument` for a module without fuel
 */
export function withFuel<Result>(instance: WebAssembly.Instance, instructions: number, call: () => Result): Result {
  const fuel = instance.exports[fuelExport];
  if (!(fuel instanceof WebAssembly.Global)) {
    throw new ClientError('invalid_argument', 'Expected an instance of a module that was instrumented with fuel');
  }
  if (!Number.isSafeInteger(instructions) || instructions <= 0) {
    throw new ClientError('invalid_argument', `Expected 1 to 2^53 - 1 instructions, found ${instructions}`);
  }
  fuel.value = BigInt(instructions);
  const fail = (cause: unknown): never => {
    if (fuel.value >= 0n) throw cause;
    throw new ClientError('out_of_fuel', `The call executed more than ${instructions} instructions`, { cause });
  };
  let result: Result;
  try {
    result = call();
  } catch (error) {
    return fail(error);
  }
  return result instanceof Promise ? (result.catch(fail) as Result) : result;
}
