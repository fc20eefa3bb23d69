import type {
  ExtensionPoint,
  ExtensionPointLimits,
  ExtensionPointUpdate,
  ProvenancePolicy,
  ProvenanceSource,
  RollOutPlan,
} from '@tenon/protocol';
import type { WasmProposal } from '@tenon/protocol/wasm-proposals';
import { byteSize } from '../../components/byte-size.ts';
import type { EditedField } from '../../state/use-edit.ts';
import { draftOfPlan, type PlanDraft, planInWords, planOf, suggestedPlan } from '../roll-outs/plan-draft.ts';

/** The rules of an extension point in a form: numbers as text, `''` for no limit. */
export interface RulesDraft {
  readonly requiresApproval: boolean;
  /** The minimum age of new versions, in hours; `''` for none. */
  readonly minVersionAgeHours: string;
  readonly allowWasi: boolean;
  readonly maxModuleBytes: string;
  readonly maxInitialMemoryPages: string;
  /** Whether all proposals are allowed, whichever are selected. */
  readonly allowsAllProposals: boolean;
  readonly proposals: readonly WasmProposal[];
  readonly provenanceMode: ProvenancePolicy['mode'];
  readonly sources: readonly SourceDraft[];
  /** Whether new versions reach guests in steps, by the plan. */
  readonly hasRollOut: boolean;
  readonly plan: PlanDraft;
}

/** An accepted source of modules in a form; `''` for a field that matches everything. */
export type SourceDraft = Readonly<Record<keyof ProvenanceSource, string>>;

export const emptySource: SourceDraft = { issuer: '', repository: '', workflow: '' };

export function draftOf({
  requiresApproval,
  minVersionAgeSeconds,
  limits,
  provenance,
  rollOut,
}: ExtensionPoint): RulesDraft {
  const { maxModuleBytes, maxInitialMemoryPages, proposals, allowWasi } = limits;
  return {
    requiresApproval,
    minVersionAgeHours: minVersionAgeSeconds === 0 ? '' : String(minVersionAgeSeconds / hourSeconds),
    allowWasi,
    maxModuleBytes: maxModuleBytes === null ? '' : String(maxModuleBytes),
    maxInitialMemoryPages: maxInitialMemoryPages === null ? '' : String(maxInitialMemoryPages),
    allowsAllProposals: proposals === null,
    proposals: proposals ?? [],
    provenanceMode: provenance.mode,
    sources: provenance.sources.map((source) => ({ ...emptySource, ...source })),
    hasRollOut: rollOut != null,
    plan: rollOut == null ? suggestedPlan : draftOfPlan(rollOut),
  };
}

/** The limits of a form whose numbers {@link numberFault} accepts. */
export function limitsOf(draft: RulesDraft): ExtensionPointLimits {
  return {
    maxModuleBytes: toNumber(draft.maxModuleBytes),
    maxInitialMemoryPages: toNumber(draft.maxInitialMemoryPages),
    proposals: draft.allowsAllProposals ? null : [...draft.proposals],
    allowWasi: draft.allowWasi,
  };
}

/** The policy of a form. Empty sources are left out. */
export function provenanceOf({ provenanceMode, sources }: RulesDraft): ProvenancePolicy {
  const given = (source: SourceDraft): ProvenanceSource =>
    Object.fromEntries(
      Object.entries(source).flatMap(([name, text]) => (text.trim() === '' ? [] : [[name, text.trim()]])),
    );
  return {
    mode: provenanceMode,
    sources: sources.map(given).filter((source) => Object.keys(source).length > 0),
  };
}

/** The default plan of a form whose plan has no faults. */
export function rollOutOf({ hasRollOut, plan }: Pick<RulesDraft, 'hasRollOut' | 'plan'>): RollOutPlan | null {
  return hasRollOut ? planOf(plan) : null;
}

/** The fields of a draft that differ from its first state, as a change of the extension point. */
export function changeOf(first: RulesDraft, draft: RulesDraft): ExtensionPointUpdate {
  const [before, after] = [limitsOf(first), limitsOf(draft)];
  const changed = (Object.keys(after) as (keyof ExtensionPointLimits)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  return {
    ...(first.requiresApproval === draft.requiresApproval ? {} : { requiresApproval: draft.requiresApproval }),
    ...(first.minVersionAgeHours === draft.minVersionAgeHours
      ? {}
      : { minVersionAgeSeconds: Math.round(Number(draft.minVersionAgeHours) * hourSeconds) }),
    ...(changed.length === 0 ? {} : { limits: Object.fromEntries(changed.map((name) => [name, after[name]])) }),
    ...(JSON.stringify(provenanceOf(first)) === JSON.stringify(provenanceOf(draft))
      ? {}
      : { provenance: provenanceOf(draft) }),
    ...(JSON.stringify(rollOutOf(first)) === JSON.stringify(rollOutOf(draft)) ? {} : { rollOut: rollOutOf(draft) }),
  };
}

/** Applies a draft's changes to another state. */
export function rebaseDraft(first: RulesDraft, draft: RulesDraft, now: RulesDraft): RulesDraft {
  const { requiresApproval, minVersionAgeSeconds, limits = {}, provenance, rollOut } = changeOf(first, draft);
  const of = <Name extends keyof RulesDraft>(isMine: boolean, ...names: readonly Name[]): Pick<RulesDraft, Name> =>
    Object.fromEntries(names.map((name) => [name, (isMine ? draft : now)[name]])) as Pick<RulesDraft, Name>;
  return {
    ...of(requiresApproval !== undefined, 'requiresApproval'),
    ...of(minVersionAgeSeconds !== undefined, 'minVersionAgeHours'),
    ...of('allowWasi' in limits, 'allowWasi'),
    ...of('maxModuleBytes' in limits, 'maxModuleBytes'),
    ...of('maxInitialMemoryPages' in limits, 'maxInitialMemoryPages'),
    ...of('proposals' in limits, 'allowsAllProposals', 'proposals'),
    ...of(provenance !== undefined, 'provenanceMode', 'sources'),
    ...of(rollOut !== undefined, 'hasRollOut', 'plan'),
  };
}

/** The rules as fields of a conflict dialog. */
export function ruleFields(draft: RulesDraft): readonly EditedField[] {
  const { maxModuleBytes, maxInitialMemoryPages } = draft;
  return [
    { label: 'Approval', text: draft.requiresApproval ? 'required' : 'not required' },
    {
      label: 'Minimum age of new versions, in hours',
      text: draft.minVersionAgeHours.trim() === '' ? 'none' : draft.minVersionAgeHours.trim(),
    },
    { label: 'Maximum module size, in bytes', text: maxModuleBytes.trim() === '' ? 'no limit' : maxModuleBytes.trim() },
    {
      label: 'Maximum initial memory, in pages of 64 KiB',
      text: maxInitialMemoryPages.trim() === '' ? 'no limit' : maxInitialMemoryPages.trim(),
    },
    { label: 'WASI', text: draft.allowWasi ? 'allowed' : 'not allowed' },
    { label: 'Proposals', text: draft.allowsAllProposals ? 'all' : draft.proposals.join('\n') || 'none' },
    { label: 'Provenance', text: provenanceInWords(provenanceOf(draft)) },
    { label: 'Roll-out', text: rollOutInWords(rollOutOf(draft)) },
  ];
}

function toNumber(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}

/** Returns what is wrong with a number in a field. */
export function numberFault(text: string, minimum: number): string | undefined {
  if (text.trim() === '') return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value)) return 'Enter a whole number, or leave the field empty.';
  return value < minimum ? `Enter at least ${minimum}, or leave the field empty.` : undefined;
}

/** Returns what is wrong with a minimum age in a field. */
export function ageFault(text: string): string | undefined {
  const hours = Number(text);
  if (hours >= 0 && hours <= maxAgeHours) return undefined;
  return `Enter hours from 0 to ${maxAgeHours.toLocaleString('en')} (90 days), or leave the field empty.`;
}

const hourSeconds = 3600;
const maxAgeHours = 90 * 24;

/** Returns why a module size that {@link numberFault} accepts has no effect. */
export function serverLimitFault(text: string, serverBytes: number): string | undefined {
  return Number(text) > serverBytes ? `The server’s limit is ${byteSize(serverBytes)}.` : undefined;
}

/** A number of units as a size: "1.05 MiB"; `undefined` for text that is no number. */
export function sizeHint(text: string, unitBytes: number): string | undefined {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isSafeInteger(value) && value >= 0 ? byteSize(value * unitBytes) : undefined;
}

/** An extension point's limits in words, one sentence each. */
export function rulesInWords({
  requiresApproval,
  minVersionAgeSeconds,
  limits,
  provenance,
  rollOut,
}: ExtensionPoint): string[] {
  const { maxModuleBytes, maxInitialMemoryPages, proposals, allowWasi } = limits;
  return [
    requiresApproval
      ? 'The team approves each new version before hosts get it.'
      : 'Approval: not required. Hosts get a new version as soon as it is published.',
    ...(minVersionAgeSeconds === 0
      ? []
      : [`Minimum age: hosts get a new version ${ageInWords(minVersionAgeSeconds)} after its publish.`]),
    ...(rollOut == null ? [] : [`Roll-out: ${planInWords(rollOut)}.`]),
    maxModuleBytes === null
      ? 'Module size: server limit.'
      : `Module size: at most ${byteSize(maxModuleBytes)} (${maxModuleBytes.toLocaleString('en')} bytes).`,
    maxInitialMemoryPages === null
      ? 'Initial memory: no limit.'
      : `Initial memory: at most ${byteSize(maxInitialMemoryPages * 65_536)} (${maxInitialMemoryPages.toLocaleString('en')} pages).`,
    allowWasi ? 'WASI: allowed.' : 'WASI: not allowed.',
    proposalsInWords(proposals),
    ...(provenance.mode === 'none' ? [] : [`Provenance: ${provenanceInWords(provenance)}.`]),
  ];
}

function ageInWords(seconds: number): string {
  const [count, unit] =
    seconds % 86_400 === 0
      ? [seconds / 86_400, 'day']
      : seconds >= hourSeconds
        ? [Math.round((seconds / hourSeconds) * 100) / 100, 'hour']
        : [seconds, 'second'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function rollOutInWords(plan: RollOutPlan | null): string {
  return plan === null ? 'all guests at once' : planInWords(plan);
}

function provenanceInWords({ mode, sources }: ProvenancePolicy): string {
  const accepted = sources.map((source) =>
    Object.entries(source)
      .map(([name, text]) => `${name} ${text}`)
      .join(', '),
  );
  const from = accepted.length === 0 ? '' : ` from ${accepted.join('; or ')}`;
  return { none: 'not required', record: `recorded${from}`, require: `required${from}` }[mode];
}

function proposalsInWords(proposals: readonly string[] | null): string {
  if (proposals === null) return 'Proposals: all that the server supports.';
  if (proposals.length === 0) return 'Proposals: none.';
  return `Proposals: ${proposals.join(', ')}.`;
}

/** The proposals that compilers use by default. */
export const compilerProposals: readonly WasmProposal[] = [
  'mutable-global',
  'sign-extension',
  'saturating-float-to-int',
  'multi-value',
  'bulk-memory',
  'reference-types',
];

/** What each proposal adds. */
export const proposalWords: Readonly<Record<WasmProposal, string>> = {
  'mutable-global': 'mutable globals, imported and exported',
  'sign-extension': 'sign extension of integers; every compiler uses it',
  'saturating-float-to-int': 'conversions of floats that never trap',
  'multi-value': 'functions with several results',
  'bulk-memory': 'copying and filling memory at once',
  'reference-types': 'references to host values, and several tables',
  simd: 'vectors of 128 bits',
  'relaxed-simd': 'vectors whose results may differ between machines',
  'tail-call': 'calls that take the caller’s place',
  'extended-const': 'arithmetic in initial values',
  'multi-memory': 'several memories',
  memory64: 'memories beyond 4 GiB',
  threads: 'shared memory and atomic access',
  exceptions: 'throwing and catching, as standardised',
  'legacy-exceptions': 'throwing and catching, before the standard',
  'function-references': 'typed references to functions',
  gc: 'structures that the engine collects',
  'custom-page-sizes': 'memory in pages of another size',
  'wide-arithmetic': 'sums and products of 128 bits',
};
