/** Which memory a module's texts lie in. */
export interface Memories {
  /** The memory of the module that has been learnt of last; `undefined` for none. */
  readonly innermost: () => WebAssembly.Memory | undefined;
  readonly learn: (instance: WebAssembly.Instance) => void;
  /** The same before there is an instance, for start functions: a memory that the module imports. */
  readonly learnImported: (module: WebAssembly.Module, imports: WebAssembly.Imports) => void;
}

export function createMemories(): Memories {
  let known: WebAssembly.Memory | undefined;
  return {
    innermost: () => known,
    learn({ exports }) {
      const { memory } = exports;
      const found = memory instanceof WebAssembly.Memory ? memory : Object.values(exports).find(isMemory);
      known = found ?? known;
    },
    learnImported(module, imports) {
      const found = WebAssembly.Module.imports(module).find(({ kind }) => kind === 'memory');
      const value = found && imports[found.module]?.[found.name];
      if (isMemory(value)) known = value;
    },
  };
}

function isMemory(value: unknown): value is WebAssembly.Memory {
  return value instanceof WebAssembly.Memory;
}
