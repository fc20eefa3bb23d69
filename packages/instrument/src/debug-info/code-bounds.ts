import { readBodyBounds } from '../binary/code.ts';
import { readModule } from '../binary/module.ts';
import { findSection, SectionId } from '../binary/sections.ts';

export interface Bounds {
  readonly start: number;
  readonly end: number;
}

/** The function bodies of a module. Bounds are offsets in the module. */
export interface CodeBounds {
  /** The offset of the code section's contents; 0 without one. */
  readonly codeStart: number;
  /** The body that contains an offset. */
  readonly bodyAt: (offset: number) => Bounds | undefined;
  /** The body of a function, unless it is imported. */
  readonly bodyOf: (functionIndex: number) => Bounds | undefined;
}

export function readCodeBounds(bytes: Uint8Array): CodeBounds {
  const module = readModule(bytes);
  const bounds = readBodyBounds(module);
  const importCount = module.importedFunctions.length;
  const body = (position: number): Bounds | undefined => {
    const start = bounds[2 * position];
    return start === undefined ? undefined : { start, end: bounds[2 * position + 1] as number };
  };
  return {
    codeStart: findSection(module.sections, SectionId.code)?.contentStart ?? 0,
    bodyOf: (functionIndex) => body(functionIndex - importCount),
    bodyAt(offset) {
      let low = 0;
      let high = bounds.length / 2;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((bounds[2 * middle + 1] as number) > offset) high = middle;
        else low = middle + 1;
      }
      const found = body(low);
      return found !== undefined && found.start <= offset ? found : undefined;
    },
  };
}
