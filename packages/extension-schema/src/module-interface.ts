/** What an import or export is. */
export type ExternKind = 'function' | 'table' | 'memory' | 'global' | 'tag';

/** A function's parameters and results, as the text format writes them. */
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

/** What a module asks of its host and offers to it: all that an extension point's demands are about. */
export interface ModuleInterface {
  readonly sizeBytes: number;
  /** What all its memories have at the start, imported ones included, in pages of 64 KiB. */
  readonly initialMemoryPages: number;
  /** Beyond the first version of the language. */
  readonly proposals: readonly string[];
  readonly exports: readonly ModuleExport[];
  readonly imports: readonly ModuleImport[];
}

/** What `describeModule()` of `@tenon/instrument` answers, as far as it matters here. */
export interface DescribedModule {
  readonly exports: readonly ModuleExport[];
  readonly imports: readonly ModuleImport[];
  readonly memories: readonly { readonly minimumPages: number; readonly pageBytes: number }[];
}

/** Puts together what `@tenon/instrument` tells of a module with `describeModule()` and `listProposals()`. */
export function moduleInterface(
  { exports, imports, memories }: DescribedModule,
  proposals: readonly string[],
  sizeBytes: number,
): ModuleInterface {
  const initialBytes = memories.reduce((bytes, { minimumPages, pageBytes }) => bytes + minimumPages * pageBytes, 0);
  return { sizeBytes, initialMemoryPages: Math.ceil(initialBytes / 65_536), proposals, exports, imports };
}
