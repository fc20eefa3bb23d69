import process from 'node:process';
import { CliError } from './errors.ts';
import { exitCodes } from './exit-codes.ts';

// The engine has it, and the types of neither Node nor ECMAScript name it: https://webassembly.github.io/spec/js-api/
declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean;
  Module: new (bytes: Uint8Array) => object;
};

/**
 * Has this engine validate an instrumented module. The rewriter checks a module's structure and not its types, so a module
 * that was not valid before comes out of it, and is caught here.
 *
 * @throws CliError `invalid_module` with the engine's reason; `internal` when it is the rewriter that broke the module
 */
export function checkWithEngine(input: Uint8Array, output: Uint8Array): void {
  if (WebAssembly.validate(output)) return;
  if (WebAssembly.validate(input)) {
    throw new CliError(
      'internal',
      'The module is valid, and what the rewriter made of it is not. Nothing was written.',
      {
        hint: 'This is a fault of tenon. Please report it, with the module if you may share it.',
      },
    );
  }
  throw new CliError('invalid_module', `The engine does not accept the module: ${refusal(input)}`, {
    exitCode: exitCodes.refused,
    hint: `If it uses something newer than Node.js ${process.versions.node}, --no-check leaves the engine out.`,
  });
}

/**
 * Has this engine validate a module as it is.
 *
 * @throws CliError `invalid_module` with the engine's reason
 */
export function assertValid(module: Uint8Array): void {
  if (WebAssembly.validate(module)) return;
  throw new CliError('invalid_module', `The engine does not accept the module: ${refusal(module)}`, {
    exitCode: exitCodes.refused,
  });
}

function refusal(module: Uint8Array): string {
  try {
    new WebAssembly.Module(module);
  } catch (error) {
    if (error instanceof Error) return error.message.replace(/^WebAssembly\.Module\(\): /, '');
  }
  return 'it gives no reason';
}
