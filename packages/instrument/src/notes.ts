/** Findings that are not errors. `code` is stable. */
export type Note =
  | {
      readonly code: 'name_not_found';
      readonly message: string;
      readonly list: 'allowed' | 'banned' | 'memory' | 'reachableFrom' | 'sourceFiles' | 'namespaces';
      readonly name: string;
      /** A similar name in the module. */
      readonly nearName?: string;
    }
  | { readonly code: 'import_not_traced'; readonly message: string; readonly name: string }
  /** Only direct calls of this import are traced. */
  | { readonly code: 'reference_not_traced'; readonly message: string; readonly name: string }
  | { readonly code: 'allocator_not_found' | 'free_not_found'; readonly message: string }
  | {
      readonly code: 'allocator_not_traced';
      readonly message: string;
      readonly name: string;
      readonly functionIndex: number;
    }
  | { readonly code: 'function_left_untraced'; readonly message: string; readonly functionIndex: number }
  | { readonly code: 'function_left_uncounted'; readonly message: string; readonly functionIndex: number }
  | { readonly code: 'section_dropped'; readonly message: string; readonly section: string; readonly offset: number }
  /** The source map of the options is malformed. */
  | { readonly code: 'source_map_dropped'; readonly message: string }
  | {
      readonly code: 'section_malformed';
      readonly message: string;
      readonly section: 'name' | 'producers';
      readonly offset: number;
    }
  | {
      readonly code: 'exception_handling_chosen';
      readonly message: string;
      readonly exceptionHandling: 'legacy' | 'exnref';
    };
