/** The imports of an adapter, with something done before each event. */
export function stepping(imports: object, step: () => void): WebAssembly.Imports {
  const modules = Object.entries(imports as Record<string, Record<string, (...args: unknown[]) => unknown>>);
  return Object.fromEntries(
    modules.map(([module, functions]) => [
      module,
      Object.fromEntries(
        Object.entries(functions).map(([name, call]) => [
          name,
          (...args: unknown[]) => {
            step();
            return call(...args);
          },
        ]),
      ),
    ]),
  );
}
