import { type Export, exportName } from '../binary/exports.ts';
import type { Import } from '../binary/imports.ts';
import { type ComparisonLimits, type Declaration, type ModuleComparison, shorten, shortenText } from './comparison.ts';
import { type Side, signatureText } from './functions.ts';

export function compareImports(before: Side, after: Side, limits: ComparisonLimits): ModuleComparison['imports'] {
  const show = (side: Side) => {
    const functionIndices = new Map(side.module.importedFunctions.map((entry, index) => [entry, index]));
    return (entry: Import): Declaration => ({
      name: shortenText(`${entry.module}.${entry.name}`, limits),
      kind: entry.kind,
      ...typeOf(side, functionIndices.get(entry), limits),
    });
  };
  return {
    added: shorten(importsOnlyOf(after, before), limits, show(after)),
    removed: shorten(importsOnlyOf(before, after), limits, show(before)),
  };
}

/** The imports of a module that the other one hasn't with the same type. */
function importsOnlyOf({ module, typeId }: Side, other: Side): readonly Import[] {
  const keyOf = (entry: Import, typeIdOf: Side['typeId']): string =>
    JSON.stringify([entry.module, entry.name, entry.kind, 'typeIndex' in entry ? typeIdOf(entry.typeIndex) : 0]);
  const left = new Map<string, number>();
  for (const entry of other.module.imports) {
    const key = keyOf(entry, other.typeId);
    left.set(key, (left.get(key) ?? 0) + 1);
  }
  return module.imports.filter((entry) => {
    const key = keyOf(entry, typeId);
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count <= 0;
  });
}

export function compareExports(before: Side, after: Side, limits: ComparisonLimits): ModuleComparison['exports'] {
  const named = ({ module }: Side): Map<string, Export> =>
    new Map(module.exports.map((entry) => [exportName(module, entry), entry]));
  const [left, right] = [named(before), named(after)];
  const show = (side: Side, entry: Export): Omit<Declaration, 'name'> => ({
    kind: entry.kind,
    ...typeOf(side, entry.kind === 'function' ? entry.index : undefined, limits),
  });
  const changed = [...right].filter(([name, entry]) => {
    const other = left.get(name);
    return other !== undefined && !isSameExport(before, other, after, entry);
  });
  return {
    added: shorten(
      [...right].filter(([name]) => !left.has(name)),
      limits,
      ([name, entry]) => ({ name: shortenText(name, limits), ...show(after, entry) }),
    ),
    removed: shorten(
      [...left].filter(([name]) => !right.has(name)),
      limits,
      ([name, entry]) => ({ name: shortenText(name, limits), ...show(before, entry) }),
    ),
    changed: shorten(changed, limits, ([name, entry]) => ({
      name: shortenText(name, limits),
      ...show(after, entry),
      before: show(before, left.get(name) as Export),
    })),
  };
}

/** Whether two exports of a name have the same kind, type, and target. */
function isSameExport(before: Side, left: Export, after: Side, right: Export): boolean {
  if (left.kind !== right.kind) return false;
  if (left.kind !== 'function') return left.index === right.index;
  const [type, other] = [before.module.functionTypes[left.index], after.module.functionTypes[right.index]];
  return (
    before.typeId(type as number) === after.typeId(other as number) &&
    before.functionIds[left.index] === after.functionIds[right.index]
  );
}

function typeOf({ module }: Side, functionIndex: number | undefined, limits: ComparisonLimits): { type?: string } {
  const type = functionIndex === undefined ? undefined : module.types[module.functionTypes[functionIndex] as number];
  return type ? { type: shortenText(signatureText(module.bytes, type), limits) } : {};
}
