import type { ExternalKind } from '../binary/imports.ts';
import type { MemoryDescription } from '../describe.ts';

/** The start of a list, and the length of the whole list. */
export interface Shortened<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

/** A module of a comparison. */
export interface ComparedModule {
  readonly bytes: number;
  readonly functionCount: number;
  readonly importedFunctionCount: number;
  readonly exportCount: number;
  readonly memories: Shortened<MemoryDescription>;
  /** Proposals beyond the first version of WebAssembly. */
  readonly features: readonly string[];
  readonly isInstrumented: boolean;
  /** Whether a name section names functions. */
  readonly hasNames: boolean;
}

/** An import or export. */
export interface Declaration {
  /** An import's as `module.name`. */
  readonly name: string;
  readonly kind: ExternalKind;
  /** As in the text format, for a function. */
  readonly type?: string;
}

/** An export whose kind, type or target differs. */
export interface ChangedExport extends Declaration {
  readonly before: Omit<Declaration, 'name'>;
}

/** A function that the module defines. */
export interface ComparedFunction {
  /** From the name section, else its export name, else `func[INDEX]`. */
  readonly name: string;
  /** Size of its body. */
  readonly bytes: number;
}

export interface ChangedFunction extends ComparedFunction {
  readonly bytesBefore: number;
}

export interface ChangedSection {
  readonly name: string;
  readonly isCustom: boolean;
  /** Sizes with headers; null where the module lacks the section. */
  readonly bytesBefore: number | null;
  readonly bytes: number | null;
}

/** The differences between two modules. */
export interface ModuleComparison {
  /** Null if `after` is described on its own. All its parts are then added ones. */
  readonly before: ComparedModule | null;
  readonly after: ComparedModule;
  readonly imports: { readonly added: Shortened<Declaration>; readonly removed: Shortened<Declaration> };
  readonly exports: {
    readonly added: Shortened<Declaration>;
    readonly removed: Shortened<Declaration>;
    readonly changed: Shortened<ChangedExport>;
  };
  /** The largest functions, and the largest changes, come first. */
  readonly functions: {
    readonly added: Shortened<ComparedFunction>;
    readonly removed: Shortened<ComparedFunction>;
    readonly changed: Shortened<ChangedFunction>;
    readonly unchanged: number;
  };
  /** Sections whose contents differ by more than the numbering of functions and types. */
  readonly sections: Shortened<ChangedSection>;
}

/** The limits of a comparison's lists. */
export interface ComparisonLimits {
  readonly maxItems: number;
  /** The maximum length of a name or type. */
  readonly maxText: number;
}

export function shorten<Item, Shown>(
  items: readonly Item[],
  { maxItems }: ComparisonLimits,
  show: (item: Item) => Shown,
): Shortened<Shown> {
  return { total: items.length, items: items.slice(0, maxItems).map(show) };
}

export function shortenText(text: string, { maxText }: ComparisonLimits): string {
  return text.length > maxText ? `${text.slice(0, maxText - 1).toWellFormed()}…` : text;
}
