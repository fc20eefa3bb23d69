/** A place in a source file. */
export interface SourceLocation {
  /** The path or URL that the compiler recorded, with the compilation's folder if the path is relative to it. */
  readonly file: string;
  /** The first line is 1. 0: the compiler made this code for no line. */
  readonly line: number;
  /** The first column is 1. 0: not known. */
  readonly column: number;
  /** The function's name as in the debug information: mangled, where the language mangles names. */
  readonly function?: string;
}

/** The line of the instructions in `[start, end)`, as offsets from the start of the code section's contents. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
  readonly file: string;
  /** 0: the compiler made this code for no line. */
  readonly line: number;
  readonly column: number;
}

/**
 * Finds source locations. Code offsets count from the start of the code section's contents. Damaged debug information has
 * fewer locations, and no method throws because of it.
 */
export interface SourceLookup {
  readonly kind: 'dwarf' | 'source-map';
  /** The offset of the code section's contents in the module: an offset in an engine's stack trace minus this is a code offset. */
  readonly codeStart: number;
  /** The location of an instruction. Inlined calls come innermost first. Empty: not known. */
  locate(codeOffset: number): readonly SourceLocation[];
  /** Where a function is declared, else its first line. */
  functionSource(functionIndex: number): SourceLocation | undefined;
  /** The lines of the instructions between two code offsets, by ascending offset. Code without a line is left out. */
  lineRanges(start: number, end: number): readonly LineRange[];
  /** Each source file once. */
  files(): readonly string[];
}

export interface SourceLookupOptions {
  /**
   * A module with the DWARF sections that the module itself lacks: the file that `external_debug_info` names, or the original
   * of an instrumented module that has the section `tenon.code-map`.
   */
  readonly debugFile?: Uint8Array | undefined;
  /** A source map as text, if it isn't in the module. */
  readonly sourceMap?: string | undefined;
}
