import { InstrumentError } from '../errors.ts';
import type { CoverageCounts } from './coverage-map.ts';

/** The counts of one or more runs of a module. */
export interface CoverageProfile {
  /** Identifies the module before it was instrumented, such as by its SHA-256. */
  readonly module: string;
  /** In the order of the blocks of the module's coverage map. */
  readonly counts: CoverageCounts;
}

const format = 'tenon-coverage-1';

/**
 * Adds the counts of two profiles of the same module.
 *
 * @throws InstrumentError `invalid_config` for profiles of different modules
 */
export function mergeProfiles(a: CoverageProfile, b: CoverageProfile): CoverageProfile {
  if (a.module !== b.module) {
    const message = `Expected coverage of the same module, found coverage of ${shown(a.module)} and of ${shown(b.module)}`;
    throw new InstrumentError('invalid_config', message);
  }
  if (a.counts.length !== b.counts.length) {
    const message = `Expected coverage with equally many blocks, found ${a.counts.length} and ${b.counts.length}: different versions of Tenon counted them`;
    throw new InstrumentError('invalid_config', message);
  }
  return { module: a.module, counts: a.counts.map((count, at) => count + (b.counts[at] as number)) };
}

/** Formats a profile as JSON. */
export function formatProfile({ module, counts }: CoverageProfile): string {
  return `${JSON.stringify({ format, module, counts: [...counts] })}\n`;
}

/**
 * Reads what {@link formatProfile} returns.
 *
 * @throws InstrumentError `invalid_config` for anything else
 */
export function parseProfile(text: string): CoverageProfile {
  const found = parseJson(text);
  if (found?.format !== format || typeof found.module !== 'string' || !isCounts(found.counts)) {
    throw new InstrumentError('invalid_config', 'Expected coverage that tenon coverage --merge has written');
  }
  return { module: found.module, counts: Float64Array.from(found.counts) };
}

function isCounts(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((count) => Number.isInteger(count) && count >= 0);
}

function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function shown(module: string): string {
  return JSON.stringify(module.slice(0, 100));
}
