// The WebAssembly JavaScript interface (https://webassembly.github.io/spec/js-api/), as far as Node.js has it. TypeScript keeps
// these types in its library for browsers, which would bring the whole DOM with it.

/** Bytes, as JavaScript's interfaces take them (https://webidl.spec.whatwg.org/#BufferSource). */
type BufferSource = ArrayBufferLike | ArrayBufferView;

declare namespace WebAssembly {
  type ImportExportKind = 'function' | 'global' | 'memory' | 'table' | 'tag';
  type ValueType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128' | 'externref' | 'anyfunc';
  // biome-ignore lint/suspicious/noExplicitAny: an export may be called with, and answer, anything
  type ExportValue = ((...args: any[]) => any) | Global | Memory | Table | Tag;
  type Exports = Record<string, ExportValue>;
  // biome-ignore lint/complexity/noBannedTypes: an import may be any function
  type ImportValue = Function | Global | Memory | Table | Tag | number | bigint | null | object | string;
  type ModuleImports = Record<string, ImportValue>;
  type Imports = Record<string, ModuleImports>;

  interface ModuleImportDescriptor {
    readonly module: string;
    readonly name: string;
    readonly kind: ImportExportKind;
  }

  interface ModuleExportDescriptor {
    readonly name: string;
    readonly kind: ImportExportKind;
  }

  /** String builtins and imported string constants. */
  interface CompileOptions {
    readonly builtins?: readonly string[];
    readonly importedStringConstants?: string | null;
  }

  interface WebAssemblyInstantiatedSource {
    readonly module: Module;
    readonly instance: Instance;
  }

  class Module {
    constructor(bytes: BufferSource, options?: CompileOptions);
    static customSections(module: Module, name: string): ArrayBuffer[];
    static exports(module: Module): ModuleExportDescriptor[];
    static imports(module: Module): ModuleImportDescriptor[];
  }

  class Instance {
    constructor(module: Module, imports?: Imports);
    readonly exports: Exports;
  }

  interface MemoryDescriptor {
    readonly initial: number | bigint;
    readonly maximum?: number | bigint;
    readonly shared?: boolean;
    readonly address?: 'i32' | 'i64';
  }

  class Memory {
    constructor(descriptor: MemoryDescriptor);
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }

  interface TableDescriptor {
    readonly element: 'anyfunc' | 'externref' | 'exnref';
    readonly initial: number | bigint;
    readonly maximum?: number | bigint;
    readonly address?: 'i32' | 'i64';
  }

  class Table {
    constructor(descriptor: TableDescriptor, value?: unknown);
    readonly length: number;
    // biome-ignore lint/suspicious/noExplicitAny: what a table holds depends on its type
    get(index: number): any;
    grow(delta: number, value?: unknown): number;
    set(index: number, value?: unknown): void;
  }

  interface GlobalDescriptor {
    readonly value: ValueType;
    readonly mutable?: boolean;
  }

  class Global {
    constructor(descriptor: GlobalDescriptor, value?: unknown);
    // biome-ignore lint/suspicious/noExplicitAny: what a global holds depends on its type
    value: any;
    // biome-ignore lint/suspicious/noExplicitAny: the same
    valueOf(): any;
  }

  class Tag {
    constructor(type: { readonly parameters: readonly ValueType[] });
  }

  class Exception {
    constructor(tag: Tag, payload: readonly unknown[], options?: { readonly traceStack?: boolean });
    is(tag: Tag): boolean;
    // biome-ignore lint/suspicious/noExplicitAny: what an exception carries depends on its tag
    getArg(tag: Tag, index: number): any;
    readonly stack?: string;
  }

  const JSTag: Tag;

  class CompileError extends Error {}
  class LinkError extends Error {}
  class RuntimeError extends Error {}

  function validate(bytes: BufferSource, options?: CompileOptions): boolean;
  function compile(bytes: BufferSource, options?: CompileOptions): Promise<Module>;
  function instantiate(
    bytes: BufferSource,
    imports?: Imports,
    options?: CompileOptions,
  ): Promise<WebAssemblyInstantiatedSource>;
  function instantiate(module: Module, imports?: Imports): Promise<Instance>;
}
