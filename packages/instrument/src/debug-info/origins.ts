import type { CompileUnit } from './compile-unit.ts';
import { Attribute } from './constants.ts';
import { orUndefined } from './or-undefined.ts';
import type { SourceLocation } from './source-lookup.ts';
import { type Attributes, referenceOf, textOf } from './unit-values.ts';
import type { AttributeValue } from './values.ts';

/** An entry's attributes, and the unit that they are in. */
interface Found {
  readonly unit: CompileUnit;
  readonly attributes: Attributes;
}

/** Names and declarations of functions, which entries have from others: those that they are inlined from or implement. */
export interface Origins {
  /** The linkage name, else the name. */
  readonly nameOf: (unit: CompileUnit, offset: number) => string | undefined;
  readonly declarationOf: (unit: CompileUnit, offset: number) => SourceLocation | undefined;
}

/** Entries that refer to each other in a longer chain, or in a circle, have no name. */
const maxHops = 16;

export function createOrigins(units: () => readonly CompileUnit[]): Origins {
  const names = new Map<number, string | undefined>();

  function unitWith(offset: number): CompileUnit | undefined {
    const all = units();
    let low = 0;
    let high = all.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((all[middle] as CompileUnit).unit.end <= offset) low = middle + 1;
      else high = middle;
    }
    const found = all[low];
    return found !== undefined && found.unit.start <= offset ? found : undefined;
  }

  function chainFrom(start: CompileUnit, offset: number): Found[] {
    const chain: Found[] = [];
    let unit: CompileUnit | undefined = start;
    let at: number | undefined = offset;
    while (unit !== undefined && at !== undefined && chain.length < maxHops) {
      const attributes: Attributes | undefined = unit.attributesAt(at);
      if (attributes === undefined) break;
      chain.push({ unit, attributes });
      const reference: AttributeValue | undefined =
        attributes.get(Attribute.abstractOrigin) ?? attributes.get(Attribute.specification);
      const from: CompileUnit = unit;
      at = reference && orUndefined(() => referenceOf(from, reference));
      unit = at === undefined ? undefined : unitWith(at);
    }
    return chain;
  }

  function firstText(chain: readonly Found[], ...attributeNames: readonly number[]): string | undefined {
    for (const { unit, attributes } of chain) {
      for (const name of attributeNames) {
        const text = orUndefined(() => textOf(unit, attributes.get(name)));
        if (text !== undefined && text !== '') return text;
      }
    }
    return undefined;
  }

  return {
    nameOf(unit, offset) {
      if (names.has(offset)) return names.get(offset);
      const chain = chainFrom(unit, offset);
      const name =
        firstText(chain, Attribute.mipsLinkageName, Attribute.linkageName) ?? firstText(chain, Attribute.name);
      names.set(offset, name);
      return name;
    },
    declarationOf(start, offset) {
      for (const { unit, attributes } of chainFrom(start, offset)) {
        const file = attributes.get(Attribute.declarationFile)?.value;
        const line = attributes.get(Attribute.declarationLine)?.value;
        if (file === undefined || line === undefined || line === 0) continue;
        const name = unit.lines()?.header.fileName(file);
        const column = attributes.get(Attribute.declarationColumn)?.value ?? 0;
        if (name !== undefined) return { file: name, line, column };
      }
      return undefined;
    },
  };
}
