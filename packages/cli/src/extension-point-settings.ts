import {
  type ExtensionPoint,
  type ExtensionPointLimits,
  maxVersionAgeSeconds,
  type ProvenancePolicy,
  type ProvenancePolicyInput,
  type ProvenanceSource,
  type RollOutPlan,
} from '@tenon/protocol';
import { wasmProposals } from '@tenon/protocol/wasm-proposals';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from './command.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { formatHalt, formatSteps, type PlanOptions, planField, withPlan } from './roll-out-plan.ts';
import { formatNumber, formatSize } from './text.ts';

/** No limit. Commander takes `null` for no value. */
const any = 'any';

/** The options of an extension point other than name and schema. */
export interface SettingFlags extends PlanOptions {
  readonly requiresApproval?: boolean;
  readonly minVersionAge?: number;
  readonly maxModuleSize?: number | typeof any;
  readonly maxMemoryPages?: number | typeof any;
  readonly proposals?: readonly string[] | typeof any;
  readonly wasi?: boolean;
  readonly provenance?: ProvenancePolicy['mode'];
  readonly provenanceSource?: readonly ProvenanceSource[];
}

/** Adds the options for what an extension point takes, and whether the team looks first. */
export function withSettings(command: Command): Command {
  return command
    .option('--requires-approval', 'a new version is bound once the team approves it')
    .option('--no-requires-approval', 'a new version is bound at once')
    .option(
      '--min-version-age <duration>',
      'how old a new version is before it is bound automatically: 0, 12h, 7d',
      parseAge,
    )
    .option('--max-module-size <size>', 'the maximum size of a module: 500000, 512KiB, 2MiB, or any', parseSize)
    .option('--max-memory-pages <pages>', 'the maximum initial memory in pages of 64 KiB, or any', parsePages)
    .option(
      '--proposals <names>',
      'the WebAssembly proposals that modules may use, separated by commas; all, or none',
      parseProposals,
    )
    .option('--wasi', 'modules may import WASI preview 1')
    .option('--no-wasi', 'modules may not import WASI')
    .addOption(
      new Option('--provenance <policy>', 'what is required of the provenance of new versions').choices([
        'none',
        'record',
        'require',
      ]),
    )
    .option(
      '--provenance-source <source>',
      'an accepted source, such as issuer=https://…,repository=acme/*,workflow=…; repeat it for others, and all given ones replace the present ones',
      (text: string, others: readonly ProvenanceSource[] = []) => [...others, parseSource(text)],
    )
    .use((one) => withPlan(one, 'as it was, else all'));
}

/** The fields of a request that the options stand for: those that are not given stay as they are. */
export function settingFields(flags: SettingFlags): {
  readonly requiresApproval?: boolean;
  readonly minVersionAgeSeconds?: number;
  readonly limits?: Partial<ExtensionPointLimits>;
  readonly provenance?: ProvenancePolicyInput;
  readonly rollOut?: RollOutPlan | null;
} {
  const { provenance: mode, provenanceSource } = flags;
  const provenance = {
    ...(mode === undefined ? {} : { mode }),
    ...(provenanceSource === undefined ? {} : { sources: [...provenanceSource] }),
  };
  const { requiresApproval, minVersionAge, maxModuleSize, maxMemoryPages, proposals, wasi } = flags;
  const limits = {
    ...(maxModuleSize === undefined ? {} : { maxModuleBytes: bound(maxModuleSize) }),
    ...(maxMemoryPages === undefined ? {} : { maxInitialMemoryPages: bound(maxMemoryPages) }),
    ...(proposals === undefined ? {} : { proposals: bound(proposals) as ExtensionPointLimits['proposals'] }),
    ...(wasi === undefined ? {} : { allowWasi: wasi }),
  };
  return {
    ...(requiresApproval === undefined ? {} : { requiresApproval }),
    ...(minVersionAge === undefined ? {} : { minVersionAgeSeconds: minVersionAge }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(Object.keys(provenance).length === 0 ? {} : { provenance }),
    ...planField(flags),
  };
}

function bound<T>(value: T | typeof any): T | null {
  return value === any ? null : value;
}

/** The settings as named values, for people. */
export function shownSettings({
  requiresApproval,
  minVersionAgeSeconds,
  limits,
  provenance,
  rollOut,
}: ExtensionPoint): (readonly [string, string])[] {
  const { maxModuleBytes, maxInitialMemoryPages, proposals, allowWasi } = limits;
  return [
    ['new versions', requiresApproval ? "wait for the team's approval" : 'are bound at once'],
    ...(rollOut == null
      ? []
      : ([
          ['roll-out', formatSteps(rollOut)],
          ['halt', formatHalt(rollOut.halt)],
        ] as const)),
    ['minimum age', minVersionAgeSeconds === 0 ? 'none' : formatDuration(minVersionAgeSeconds * 1000)],
    ['module size', maxModuleBytes === null ? 'any that the server takes' : `at most ${formatSize(maxModuleBytes)}`],
    [
      'memory',
      maxInitialMemoryPages === null ? 'any' : `at most ${formatNumber(maxInitialMemoryPages)} pages at the start`,
    ],
    ['proposals', proposals === null ? 'all' : proposals.join(', ') || 'none'],
    ['WASI', allowWasi ? 'allowed' : 'not allowed'],
    ...(provenance.mode === 'none' ? [] : [['provenance', provenanceInWords(provenance)] as const]),
  ];
}

/** A duration in whole seconds. */
function parseAge(text: string): number {
  const seconds = parseDuration(text) / 1000;
  if (Number.isInteger(seconds) && seconds <= maxVersionAgeSeconds) return seconds;
  throw new InvalidArgumentError('It takes whole seconds, at most 90d: 0, 12h, 7d.');
}

function provenanceInWords({ mode, sources }: ProvenancePolicy): string {
  const accepted = sources.map((source) =>
    Object.entries(source)
      .map(([name, pattern]) => `${name}=${pattern}`)
      .join(','),
  );
  return [mode === 'require' ? 'required' : 'recorded', ...accepted].join(' ');
}

const sourceFields: readonly string[] = ['issuer', 'repository', 'workflow'] satisfies (keyof ProvenanceSource)[];

function parseSource(text: string): ProvenanceSource {
  const pairs = text.split(',').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
  if (pairs.every(([name = '', value]) => sourceFields.includes(name) && value !== ''))
    return Object.fromEntries(pairs);
  throw new InvalidArgumentError(`It takes name=value pairs, separated by commas: ${sourceFields.join(', ')}.`);
}

function parseSize(text: string): number | typeof any {
  if (text === any) return any;
  const [, digits, unit = ''] = /^(\d{1,15})(KiB|MiB)?$/.exec(text) ?? [];
  const bytes = Number(digits) * (unit === 'KiB' ? 1024 : unit === 'MiB' ? 1024 * 1024 : 1);
  if (digits === undefined || bytes < 8) throw new InvalidArgumentError('It takes bytes, such as 512KiB, or "any".');
  return bytes;
}

function parsePages(text: string): number | typeof any {
  if (text === any) return any;
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It takes a number of pages, or "any".');
  return Number(text);
}

function parseProposals(text: string): readonly string[] | typeof any {
  if (text === 'all') return any;
  if (text === 'none') return [];
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const unknown = names.find((name) => !(wasmProposals as readonly string[]).includes(name));
  if (unknown === undefined) return names;
  throw new InvalidArgumentError(`There is no proposal "${unknown}"; there are ${wasmProposals.join(', ')}.`);
}
