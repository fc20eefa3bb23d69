type Bytes = ArrayBuffer | ArrayBufferView;

/** What is done to every module that the JavaScript around a real package compiles. */
export interface Interception {
  readonly transform: (bytes: Uint8Array) => Uint8Array;
  /** What a module gets besides what its package gives it. */
  readonly imports: (module: WebAssembly.Module) => WebAssembly.Imports;
  /** What the package gets for its instance; that itself without this. */
  readonly bind?: (instance: WebAssembly.Instance, module: WebAssembly.Module) => WebAssembly.Instance;
  /** Called with `module.field` for every call that reaches a function of the package's own import object. */
  readonly onImportCall?: (name: string) => void;
}

/**
 * Puts itself between a package's own loader and the engine, so that the package runs as its users run it, with other
 * bytes. Only for a worker of its own: it is never undone.
 */
export function interceptEngine({ transform, imports: added, bind, onImportCall }: Interception): void {
  const { Module, Instance, compile, instantiate } = WebAssembly;

  const bytesOf = (source: Bytes): Uint8Array<ArrayBuffer> => {
    const view = ArrayBuffer.isView(source)
      ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
      : new Uint8Array(source);
    return new Uint8Array(transform(new Uint8Array(view)));
  };
  const watched = (module: WebAssembly.Module, imports: WebAssembly.Imports = {}): WebAssembly.Imports => {
    if (onImportCall === undefined) return { ...imports, ...added(module) };
    const entries = Object.entries(imports).map(([from, fields]) => [from, watch(from, fields, onImportCall)]);
    return { ...Object.fromEntries(entries), ...added(module) };
  };
  const bound = (instance: WebAssembly.Instance, module: WebAssembly.Module) => bind?.(instance, module) ?? instance;

  WebAssembly.Module = new Proxy(Module, { construct: (target, [source]) => new target(bytesOf(source)) });
  WebAssembly.Instance = new Proxy(Instance, {
    construct: (target, [module, imports]) => bound(new target(module, watched(module, imports)), module),
  });
  WebAssembly.compile = async (source) => compile(bytesOf(source as Bytes));
  WebAssembly.instantiate = (async (source: Bytes | WebAssembly.Module, imports?: WebAssembly.Imports) => {
    const module = source instanceof Module ? source : await compile(bytesOf(source));
    const instance = bound(await instantiate(module, watched(module, imports)), module);
    return source instanceof Module ? instance : { module, instance };
  }) as typeof WebAssembly.instantiate;
}

function watch(module: string, fields: WebAssembly.Imports[string], onImportCall: (name: string) => void) {
  const entries = Object.entries(fields).map(([field, value]) => {
    if (typeof value !== 'function') return [field, value];
    const counted = (...args: unknown[]) => {
      onImportCall(`${module}.${field}`);
      return value(...args);
    };
    return [field, counted];
  });
  return Object.fromEntries(entries);
}
