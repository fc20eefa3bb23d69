/** The memory that an instance's texts lie in: the one it exports as `memory`, else the first that it exports. */
export function memoryOf({ exports }: WebAssembly.Instance): WebAssembly.Memory | undefined {
  return isMemory(exports.memory) ? exports.memory : Object.values(exports).find(isMemory);
}

/** The same before there is an instance, for its start function: a memory that the module imports. */
export function importedMemory(
  module: WebAssembly.Module,
  imports: WebAssembly.Imports,
): WebAssembly.Memory | undefined {
  const found = WebAssembly.Module.imports(module).find(({ kind }) => kind === 'memory');
  const value = found && imports[found.module]?.[found.name];
  return isMemory(value) ? value : undefined;
}

function isMemory(value: unknown): value is WebAssembly.Memory {
  return value instanceof WebAssembly.Memory;
}
