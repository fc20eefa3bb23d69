type Bytes = ArrayBuffer | ArrayBufferView;

/** What is done to every module that the JavaScript around a real package compiles. */
export interface Interception {
  readonly transform: (bytes: Uint8Array) => Uint8Array;
  readonly imports: WebAssembly.Imports;
  /** Called with `module.field` for every call that reaches a function of the package's own import object. */
  readonly onImportCall: (name: string) => void;
}

/**
 * Puts itself between a package's own loader and the engine, so that the package runs as its users run it, with other
 * bytes. Only for a worker of its own: it is never undone.
 */
export function interceptEngine({ transform, imports: added, onImportCall }: Interception): void {
  const { Module, Instance, compile, instantiate } = WebAssembly;

  const bytesOf = (source: Bytes): Uint8Array<ArrayBuffer> => {
    const view = ArrayBuffer.isView(source)
      ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
      : new Uint8Array(source);
    return new Uint8Array(transform(new Uint8Array(view)));
  };
  const watched = (imports: WebAssembly.Imports = {}): WebAssembly.Imports => {
    const entries = Object.entries(imports).map(([module, fields]) => [module, watch(module, fields, onImportCall)]);
    return { ...Object.fromEntries(entries), ...added };
  };

  WebAssembly.Module = new Proxy(Module, { construct: (target, [source]) => new target(bytesOf(source)) });
  WebAssembly.Instance = new Proxy(Instance, {
    construct: (target, [module, imports]) => new target(module, watched(imports)),
  });
  WebAssembly.compile = async (source) => compile(bytesOf(source as Bytes));
  WebAssembly.instantiate = (async (source: Bytes | WebAssembly.Module, imports?: WebAssembly.Imports) =>
    source instanceof Module
      ? instantiate(source, watched(imports))
      : instantiate(bytesOf(source), watched(imports))) as typeof WebAssembly.instantiate;
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
