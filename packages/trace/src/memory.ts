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

/** The memories of all instances, as long as the engine has not collected them. */
export interface LiveMemories {
  /** Takes note of the memories among these. */
  readonly add: (values: readonly unknown[]) => void;
  /** Their pages of 64 KiB; `undefined` before the first. */
  readonly pages: () => number | undefined;
}

const pageBytes = 65_536;

/** Hosts make instances by the thousand and forget them: a memory must not live on since it is counted. */
export function createLiveMemories(): LiveMemories {
  const known = new WeakSet<WebAssembly.Memory>();
  let references: WeakRef<WebAssembly.Memory>[] = [];
  let mostReferences = 64;
  const live = () => references.flatMap((reference) => reference.deref() ?? []);
  const forgetCollected = () => {
    references = references.filter((reference) => reference.deref() !== undefined);
    mostReferences = Math.max(64, references.length * 2);
  };
  let hasSeen = false;
  return {
    add(values) {
      for (const value of values) {
        if (!isMemory(value) || known.has(value)) continue;
        known.add(value);
        if (references.length >= mostReferences) forgetCollected();
        references.push(new WeakRef(value));
        hasSeen = true;
      }
    },
    pages: () =>
      hasSeen ? live().reduce((pages, { buffer }) => pages + Math.ceil(buffer.byteLength / pageBytes), 0) : undefined,
  };
}

function isMemory(value: unknown): value is WebAssembly.Memory {
  return value instanceof WebAssembly.Memory;
}
