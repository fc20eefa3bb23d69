import { readModule } from './binary/module.ts';
import { type ComparedModule, type ComparisonLimits, type ModuleComparison, shorten } from './compare/comparison.ts';
import { compareExports, compareImports } from './compare/declarations.ts';
import { compareFunctions } from './compare/function-lists.ts';
import { createSide, pairFunctions, type Side } from './compare/functions.ts';
import { compareSections } from './compare/section-list.ts';
import { describeModule, isInstrumented } from './describe.ts';
import { listProposals } from './list-proposals.ts';

const emptyModule = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00);

/**
 * Compares two modules: imports, exports, features, memories, sizes, functions, and sections. Without `before`, describes `after`
 * in the same form.
 *
 * A function counts as changed if its type or code differs. A body that refers to the same functions and types by other indices is
 * unchanged. It compares bytes, because one inserted function moves the indices of all that follow: with a hash of each body, every body with
 * a call would count as changed. Hashes only pair functions without a name; a wrong pair shows as changed. Functions correspond by name, without the hash of Rust's legacy mangling, otherwise by code and order.
 *
 * Throws what {@link describeModule} and `listProposals()` throw.
 */
export function compareModules(
  before: Uint8Array | undefined,
  after: Uint8Array,
  limits: Partial<ComparisonLimits> = {},
): ModuleComparison {
  const all: ComparisonLimits = { maxItems: 100, maxText: 200, ...limits };
  const typeIds = new Map<string, number>();
  const left = createSide(readModule(before ?? emptyModule), typeIds);
  const right = createSide(readModule(after), typeIds);
  const functions = compareFunctions(left, right, pairFunctions(left, right), all);
  const { added, removed, changed } = functions;
  return {
    before: before === undefined ? null : summarize(before, left, all),
    after: summarize(after, right, all),
    imports: compareImports(left, right, all),
    exports: compareExports(left, right, all),
    functions,
    sections: compareSections(left, right, added.total + removed.total + changed.total === 0, all),
  };
}

function summarize(bytes: Uint8Array, { names, module }: Side, limits: ComparisonLimits): ComparedModule {
  const description = describeModule(bytes);
  return {
    bytes: bytes.length,
    functionCount: description.functionCount,
    importedFunctionCount: module.importedFunctions.length,
    exportCount: description.exports.length,
    memories: shorten(description.memories, limits, (memory) => memory),
    features: listProposals(bytes),
    isInstrumented: isInstrumented(description),
    hasNames: names.some((name) => name !== ''),
  };
}
