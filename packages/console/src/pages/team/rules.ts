import type { ExtensionPoint, ExtensionPointLimits, ExtensionPointUpdate } from '@tenon/protocol';
import type { WasmProposal } from '@tenon/protocol/wasm-proposals';
import { byteSize } from '../../components/byte-size.ts';
import type { EditedField } from '../../state/use-edit.ts';

/** The rules of an extension point as a form holds them: numbers as they are typed, `''` for no limit. */
export interface RulesDraft {
  readonly requiresApproval: boolean;
  readonly allowWasi: boolean;
  readonly maxModuleBytes: string;
  readonly maxInitialMemoryPages: string;
  /** Whether every proposal may be used, whatever is ticked. */
  readonly allowsAllProposals: boolean;
  readonly proposals: readonly WasmProposal[];
}

export function draftOf({ requiresApproval, limits }: ExtensionPoint): RulesDraft {
  const { maxModuleBytes, maxInitialMemoryPages, proposals, allowWasi } = limits;
  return {
    requiresApproval,
    allowWasi,
    maxModuleBytes: maxModuleBytes === null ? '' : String(maxModuleBytes),
    maxInitialMemoryPages: maxInitialMemoryPages === null ? '' : String(maxInitialMemoryPages),
    allowsAllProposals: proposals === null,
    proposals: proposals ?? [],
  };
}

/** What the form's values come to, once {@link numberFault} finds nothing wrong with them. */
export function limitsOf(draft: RulesDraft): ExtensionPointLimits {
  return {
    maxModuleBytes: toNumber(draft.maxModuleBytes),
    maxInitialMemoryPages: toNumber(draft.maxInitialMemoryPages),
    proposals: draft.allowsAllProposals ? null : [...draft.proposals],
    allowWasi: draft.allowWasi,
  };
}

/** What of a draft differs from what it started from, as a change of the extension point. */
export function changeOf(first: RulesDraft, draft: RulesDraft): ExtensionPointUpdate {
  const [before, after] = [limitsOf(first), limitsOf(draft)];
  const changed = (Object.keys(after) as (keyof ExtensionPointLimits)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  return {
    ...(first.requiresApproval === draft.requiresApproval ? {} : { requiresApproval: draft.requiresApproval }),
    ...(changed.length === 0 ? {} : { limits: Object.fromEntries(changed.map((name) => [name, after[name]])) }),
  };
}

/** A draft whose changes are made on top of another state: what was changed stays, the rest is as it is there. */
export function rebaseDraft(first: RulesDraft, draft: RulesDraft, now: RulesDraft): RulesDraft {
  const { requiresApproval, limits = {} } = changeOf(first, draft);
  const of = <Name extends keyof RulesDraft>(isMine: boolean, ...names: readonly Name[]): Pick<RulesDraft, Name> =>
    Object.fromEntries(names.map((name) => [name, (isMine ? draft : now)[name]])) as Pick<RulesDraft, Name>;
  return {
    ...of(requiresApproval !== undefined, 'requiresApproval'),
    ...of('allowWasi' in limits, 'allowWasi'),
    ...of('maxModuleBytes' in limits, 'maxModuleBytes'),
    ...of('maxInitialMemoryPages' in limits, 'maxInitialMemoryPages'),
    ...of('proposals' in limits, 'allowsAllProposals', 'proposals'),
  };
}

/** The rules as a conflict shows them. */
export function ruleFields(draft: RulesDraft): readonly EditedField[] {
  const { maxModuleBytes, maxInitialMemoryPages } = draft;
  return [
    { label: 'Approval', text: draft.requiresApproval ? 'new versions wait for the team' : 'not needed' },
    { label: 'Largest module, in bytes', text: maxModuleBytes.trim() === '' ? 'no limit' : maxModuleBytes.trim() },
    {
      label: 'Largest memory at the start, in pages of 64 KiB',
      text: maxInitialMemoryPages.trim() === '' ? 'no limit' : maxInitialMemoryPages.trim(),
    },
    { label: 'WASI', text: draft.allowWasi ? 'allowed' : 'not allowed' },
    { label: 'Proposals', text: draft.allowsAllProposals ? 'all' : draft.proposals.join('\n') || 'none' },
  ];
}

function toNumber(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}

/** What is wrong with a number as it was typed. */
export function numberFault(text: string, minimum: number): string | undefined {
  if (text.trim() === '') return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value)) return 'A whole number, or nothing.';
  return value < minimum ? `${minimum} at the least, or nothing.` : undefined;
}

/** The size that a number of units comes to: "1.05 MiB"; nothing of what is no number. */
export function sizeHint(text: string, unitBytes: number): string | undefined {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isSafeInteger(value) && value >= 0 ? byteSize(value * unitBytes) : undefined;
}

/** An extension point's limits in words, one sentence each. */
export function rulesInWords({ requiresApproval, limits }: ExtensionPoint): string[] {
  const { maxModuleBytes, maxInitialMemoryPages, proposals, allowWasi } = limits;
  return [
    requiresApproval
      ? 'The team approves each new version before programs get it.'
      : 'A new version is used as soon as it is published.',
    maxModuleBytes === null
      ? 'Modules may be as large as the server takes.'
      : `Modules may have ${byteSize(maxModuleBytes)} (${maxModuleBytes.toLocaleString('en')} bytes) at the most.`,
    maxInitialMemoryPages === null
      ? 'Their memory may begin at any size.'
      : `Their memory may begin with ${byteSize(maxInitialMemoryPages * 65_536)} at the most (${maxInitialMemoryPages.toLocaleString('en')} pages).`,
    allowWasi ? 'They may import WASI.' : 'They may not import WASI.',
    proposalsInWords(proposals),
  ];
}

function proposalsInWords(proposals: readonly string[] | null): string {
  if (proposals === null) return 'They may use every WebAssembly proposal that the server knows.';
  if (proposals.length === 0) return 'They may use no WebAssembly proposal beyond the first version.';
  return `Of WebAssembly proposals they may use ${new Intl.ListFormat('en').format(proposals)}.`;
}

/** What each proposal brings, for those who have to choose. */
export const proposalWords: Readonly<Record<WasmProposal, string>> = {
  'mutable-global': 'globals that change, imported and exported',
  'sign-extension': 'short numbers made longer; every compiler uses it',
  'saturating-float-to-int': 'conversions of floats that never trap',
  'multi-value': 'functions with several results',
  'bulk-memory': 'copying and filling memory at once',
  'reference-types': 'values of the host, and several tables',
  simd: 'vectors of 128 bits',
  'relaxed-simd': 'vectors whose results may differ between machines',
  'tail-call': 'calls that take the caller’s place',
  'extended-const': 'sums in initial values',
  'multi-memory': 'several memories',
  memory64: 'memories beyond 4 GiB',
  threads: 'shared memory and atomic access',
  exceptions: 'throwing and catching, as standardised',
  'legacy-exceptions': 'throwing and catching, as it was before',
  'function-references': 'typed references to functions',
  gc: 'structures that the engine collects',
  'custom-page-sizes': 'memory in pages of another size',
  'wide-arithmetic': 'sums and products of 128 bits',
};
