import type { GlobalType, TableType } from './types.ts';
import type { ValidationCost } from './validation-cost.ts';

/** Hooks that the readers of tables, globals, and segments call in the order of the bytes. */
export interface SectionVisitor {
  readonly cost: ValidationCost;
  /** The number of entries, which start at `offset`. */
  readonly onCount?: (count: number, offset: number) => void;
  readonly onTable?: (type: TableType, hasInitializer: boolean) => void;
  readonly onGlobal?: (type: GlobalType) => void;
  readonly onElementSegment?: (flags: number, elementType: string) => void;
  readonly onDataSegment?: (flags: number) => void;
  /** An instruction of a constant expression; its section ends at `end`. */
  readonly onConstInstruction?: (offset: number, end: number) => void;
  /** A function index that lies at `[start, end)`. */
  readonly onFunctionIndex?: (index: number, start: number, end: number) => void;
}
