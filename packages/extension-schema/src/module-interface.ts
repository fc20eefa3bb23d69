/** The kind of an import or export. */
export type ExternKind = 'function' | 'table' | 'memory' | 'global' | 'tag';

/** A function's parameter and result types, in the notation of the text format. */
export interface FunctionType {
  readonly params: readonly string[];
  readonly results: readonly string[];
}

export interface ModuleExport {
  readonly name: string;
  readonly kind: ExternKind;
  /** For a function. */
  readonly type?: FunctionType;
}

export interface ModuleImport extends ModuleExport {
  readonly module: string;
}

/** The properties of a module that an extension point restricts. */
export interface ModuleInterface {
  readonly sizeBytes: number;
  /** The initial size of all memories together, including imported ones, in pages of 64 KiB. */
  readonly initialMemoryPages: number;
  /** The WebAssembly proposals that the module uses, beyond the first version. */
  readonly proposals: readonly string[];
  readonly exports: readonly ModuleExport[];
  readonly imports: readonly ModuleImport[];
}

/** The relevant part of the result of `describeModule()` in `@tenon/instrument`. */
export interface DescribedModule {
  readonly exports: readonly ModuleExport[];
  readonly imports: readonly ModuleImport[];
  readonly memories: readonly { readonly minimumPages: number; readonly pageBytes: number }[];
}

/** Combines the results of `describeModule()` and `listProposals()` of `@tenon/instrument`. */
export function moduleInterface(
  { exports, imports, memories }: DescribedModule,
  proposals: readonly string[],
  sizeBytes: number,
): ModuleInterface {
  const initialBytes = memories.reduce((bytes, { minimumPages, pageBytes }) => bytes + minimumPages * pageBytes, 0);
  return { sizeBytes, initialMemoryPages: Math.ceil(initialBytes / 65_536), proposals, exports, imports };
}
