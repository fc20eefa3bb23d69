import type { FunctionSignature, MemoryDescription, ModuleDescription } from '@tenon/instrument';
import { MissingImport } from './program-end.ts';

/** What is done when a module calls an import that nobody here knows: the run ends, or it gets zeros. */
export type MissingRule = 'fail' | 'zero';

/**
 * Gives a module what it imports: what is known by name, a memory where it wants one, and functions that stand in for all others.
 *
 * @param known by module and name
 * @throws MissingImport for a table, a global or a tag that nobody knows: what it has to be like can't be guessed
 */
export function fillImports(
  { imports, memories }: ModuleDescription,
  known: ReadonlyMap<string, Readonly<Record<string, WebAssembly.ImportValue>>>,
  rule: MissingRule,
): WebAssembly.Imports {
  const filled: Record<string, Record<string, WebAssembly.ImportValue>> = Object.create(null);
  let memoryIndex = 0;
  for (const { module, name, kind, type } of imports) {
    const memory = kind === 'memory' ? memories[memoryIndex++] : undefined;
    const fields: Record<string, WebAssembly.ImportValue> = filled[module] ?? Object.create(null);
    filled[module] = fields;
    const group = known.get(module);
    const given = group !== undefined && Object.hasOwn(group, name) ? group[name] : undefined;
    if (given !== undefined) fields[name] = given;
    else if (memory !== undefined) fields[name] = makeMemory(memory);
    else if (kind === 'function') fields[name] = standIn(`${module}.${name}`, type, rule);
    else throw new MissingImport(`The module imports the ${kind} ${module}.${name}, and there is none here to give it`);
  }
  return filled;
}

function standIn(name: string, type: FunctionSignature | undefined, rule: MissingRule): () => unknown {
  if (rule === 'fail') {
    return () => {
      throw new MissingImport(`The module called ${name}, which it imports and which is not here`);
    };
  }
  const zeros = (type?.results ?? []).map((result) => {
    if (result === 'i64') return 0n;
    return /^[if]\d/.test(result) ? 0 : null;
  });
  const answer = zeros.length < 2 ? zeros[0] : zeros;
  return () => answer;
}

function makeMemory({ minimumPages, maximumPages, isShared }: MemoryDescription): WebAssembly.Memory {
  const limits = { initial: minimumPages, ...(maximumPages === undefined ? {} : { maximum: maximumPages }) };
  return new WebAssembly.Memory(isShared ? { ...limits, shared: true } : limits);
}
