import type { FunctionSignature, MemoryDescription, ModuleDescription } from '@tenon/instrument';
import { RunFailure } from './ending.ts';

/** What a missing function does when the module calls it: end the run, or return zeros. */
export type MissingRule = 'trap' | 'zero';

/**
 * Builds the import object of a module: the host functions that it names, memories, and stubs for missing functions.
 *
 * @throws WebAssembly.LinkError for a missing table, global or tag, because its value can't be guessed
 */
export function fillImports(
  { imports, memories }: ModuleDescription,
  hosts: readonly WebAssembly.Imports[],
  rule: MissingRule,
): WebAssembly.Imports {
  const filled: WebAssembly.Imports = Object.create(null);
  let memoryIndex = 0;
  for (const { module, name, kind, type } of imports) {
    const memory = kind === 'memory' ? memories[memoryIndex++] : undefined;
    const host = hosts.find((each) => Object.hasOwn(each, module) && Object.hasOwn(each[module] ?? {}, name));
    const fields: WebAssembly.ModuleImports = filled[module] ?? Object.create(null);
    filled[module] = fields;
    if (host !== undefined) fields[name] = host[module]?.[name] as WebAssembly.ImportValue;
    else if (memory !== undefined) fields[name] = createMemory(memory);
    else if (kind === 'function') fields[name] = createStub(`${module}.${name}`, type, rule);
    else throw new WebAssembly.LinkError(`The module imports the ${kind} ${module}.${name}, which is not available`);
  }
  return filled;
}

function createStub(name: string, type: FunctionSignature | undefined, rule: MissingRule): () => unknown {
  if (rule === 'trap') {
    return () => {
      throw new RunFailure(`The module called ${name}, which is not available`);
    };
  }
  const zeros = (type?.results ?? []).map((result) => (result === 'i64' ? 0n : /^[if]\d/.test(result) ? 0 : null));
  const result = zeros.length < 2 ? zeros[0] : zeros;
  return () => result;
}

function createMemory({ minimumPages, maximumPages, isShared }: MemoryDescription): WebAssembly.Memory {
  const maximum = maximumPages === undefined ? {} : { maximum: maximumPages };
  return new WebAssembly.Memory({ initial: minimumPages, ...maximum, shared: isShared });
}

/** The memory that host functions read: the export `memory`, another exported one, or an imported one. */
export function memoryOf(exports: WebAssembly.Exports, imports: WebAssembly.Imports): WebAssembly.Memory | undefined {
  const imported = Object.values(imports).flatMap((fields): unknown[] => Object.values(fields));
  return [exports.memory, ...Object.values(exports), ...imported].find((value) => value instanceof WebAssembly.Memory);
}
