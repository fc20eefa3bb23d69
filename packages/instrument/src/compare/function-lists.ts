import { type ComparisonLimits, type ModuleComparison, shorten, shortenText } from './comparison.ts';
import { isSameRange, type Side, unpaired } from './functions.ts';

type FunctionLists = ModuleComparison['functions'];

/**
 * Compares the functions that the modules define.
 *
 * @param partners what `pairFunctions()` returns
 */
export function compareFunctions(
  before: Side,
  after: Side,
  partners: Int32Array,
  limits: ComparisonLimits,
): FunctionLists {
  const added: number[] = [];
  const changed: number[] = [];
  const isPaired = new Uint8Array(before.functionIds.length);
  let unchanged = 0;
  partners.forEach((partner, index) => {
    if (partner !== unpaired) isPaired[partner] = 1;
    if (isImported(after, index)) return;
    if (partner === unpaired) added.push(index);
    else if (isSameFunction(before, partner, after, index)) unchanged++;
    else changed.push(index);
  });
  const removed = [...before.functionIds.keys()].filter((index) => isPaired[index] === 0 && !isImported(before, index));
  const bytesBefore = (index: number) => bodyBytes(before, partners[index] as number);
  const delta = (index: number) => Math.abs(bodyBytes(after, index) - bytesBefore(index));
  const largestIn = (side: Side) => (one: number, other: number) => bodyBytes(side, other) - bodyBytes(side, one);
  const show = (side: Side) => (index: number) => ({
    name: shortenText(nameOf(side, index), limits),
    bytes: bodyBytes(side, index),
  });
  return {
    added: shorten(added.sort(largestIn(after)), limits, show(after)),
    removed: shorten(removed.sort(largestIn(before)), limits, show(before)),
    changed: shorten(
      changed.sort((one, other) => delta(other) - delta(one) || largestIn(after)(one, other)),
      limits,
      (index) => ({ ...show(after)(index), bytesBefore: bytesBefore(index) }),
    ),
    unchanged,
  };
}

function isSameFunction(before: Side, left: number, after: Side, right: number): boolean {
  const typeOf = ({ module, typeId }: Side, index: number) => typeId(module.functionTypes[index] as number);
  if (typeOf(before, left) !== typeOf(after, right)) return false;
  return isSameRange(before, bodyOf(before, left), after, bodyOf(after, right));
}

function isImported({ module }: Side, index: number): boolean {
  return index < module.importedFunctions.length;
}

function bodyOf({ module, sites }: Side, index: number) {
  return sites.ofBody(index - module.importedFunctions.length);
}

function bodyBytes(side: Side, index: number): number {
  const { start, end } = bodyOf(side, index);
  return end - start;
}

function nameOf({ names, exportNames }: Side, index: number): string {
  return names[index] || (exportNames.get(index) ?? `func[${index}]`);
}
