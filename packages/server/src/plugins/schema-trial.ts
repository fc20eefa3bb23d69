import type { Mismatch } from '@tenon/extension-schema/interface-check';
import type { ExtensionPointLimits, GuestId, SchemaWarning } from '@tenon/protocol';
import type { ExtensionPointAccess } from '../auth/access.ts';
import { DamagedContentError } from '../blobs/stored-contents.ts';
import { readAllPages } from '../db/paging.ts';
import type { VersionRecord } from '../db/records.ts';
import type { BoundVersion } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../http/domain-errors.ts';
import type { CheckedModule, JobOptions, ModuleRequirements } from './module-checker.ts';

/** The proposed schema and limits. An omitted field has the extension point's current value. */
interface TrialFields {
  readonly schema?: unknown;
  readonly limits?: Partial<ExtensionPointLimits>;
}

/** A bound version with the guests under which it is bound. */
export interface TriedVersion {
  readonly version: VersionRecord & { readonly userName: string };
  readonly guestIds: readonly GuestId[];
  /** Whether it is bound under more guests than these. */
  readonly hasMoreGuests: boolean;
}

interface BreakingVersion extends TriedVersion {
  readonly mismatches: readonly Mismatch[];
  /** Whether it doesn't fit the current requirements either. */
  readonly isBrokenAlready: boolean;
}

export interface Trial extends ModuleRequirements {
  /** About the proposed schema. */
  readonly warnings: readonly SchemaWarning[];
  /** The number of bound versions that were checked. */
  readonly checked: number;
  readonly breakingCount: number;
  /** The first {@link maxListed}. */
  readonly breaking: readonly BreakingVersion[];
  /** The first {@link maxListed} that could not be checked, with the reason. */
  readonly unreadable: readonly (TriedVersion & { readonly detail: string })[];
  readonly hasMoreUnreadable: boolean;
}

/** The maximum number of versions in each list of the result. */
const maxListed = 1000;

/** The maximum number of guests listed for a version. */
const maxGuests = 100;

/** How many versions one query reads and one worker job compares. */
const pageSize = 100;

/**
 * Finds the bound plugins that would not fit an extension point after a change of its schema or limits. It changes nothing, except
 * that it stores interfaces that it had to compute from a module's bytes.
 *
 * @throws DomainError `invalid_field` for an invalid schema
 */
export async function trySchema(
  deps: Deps,
  { extensionPoint }: ExtensionPointAccess,
  fields: TrialFields,
  jobOptions?: JobOptions,
): Promise<Trial> {
  const read = fields.schema === undefined ? undefined : await deps.checker.readSchema(fields.schema, jobOptions);
  const proposed: ModuleRequirements = {
    schemaJson: read?.schemaJson ?? extensionPoint.schemaJson,
    limits: { ...extensionPoint.limits, ...fields.limits },
  };
  const checkPage = createPageChecker(deps, proposed, extensionPoint, jobOptions);
  const breaking: BreakingVersion[] = [];
  const unreadable: (TriedVersion & { detail: string })[] = [];
  let hasMoreUnreadable = false;
  let checked = 0;
  let breakingCount = 0;
  const bound = readAllPages(
    pageSize,
    ({ id }: BoundVersion) => id,
    (page) => deps.store.read.boundVersions(extensionPoint.id, page),
  );
  for await (const page of bound) {
    const results = await checkPage(page);
    for (const [index, { interfaceJson: _, ...version }] of page.entries()) {
      const result = results[index];
      if (result === undefined || 'detail' in result) {
        const detail = result?.detail ?? 'The version was not checked.';
        hasMoreUnreadable = unreadable.length === maxListed;
        if (!hasMoreUnreadable) unreadable.push({ ...(await withGuests(deps, version)), detail });
        continue;
      }
      checked++;
      if (result.mismatches.length === 0) continue;
      if (++breakingCount <= maxListed) breaking.push({ ...(await withGuests(deps, version)), ...result });
    }
  }
  return {
    ...proposed,
    warnings: read?.warnings ?? [],
    checked,
    breakingCount,
    breaking,
    unreadable,
    hasMoreUnreadable,
  };
}

async function withGuests({ store }: Deps, version: TriedVersion['version']): Promise<TriedVersion> {
  const guests = await store.read.guestsBoundTo([version.id], { limit: maxGuests + 1 });
  const guestIds = guests.slice(0, maxGuests).map(({ guestId }) => guestId);
  return { version, guestIds: guestIds.sort(), hasMoreGuests: guests.length > maxGuests };
}

/** A version could not be checked. */
interface CheckFailure {
  readonly detail: string;
}

type CheckResult = Pick<BreakingVersion, 'mismatches' | 'isBrokenAlready'> | CheckFailure;

/**
 * Creates a function that checks a page of versions against the proposed requirements. It checks versions that don't fit against
 * the current requirements too. It uses the stored interface of a version if there is one, and the bytes otherwise.
 */
function createPageChecker(
  deps: Deps,
  proposed: ModuleRequirements,
  current: ModuleRequirements,
  jobOptions?: JobOptions,
): (page: readonly BoundVersion[]) => Promise<CheckResult[]> {
  const { checker } = deps;
  const checksByAddress = new Map<string, Promise<CheckedModule | CheckFailure>>();

  const isBrokenAlready = async (version: BoundVersion, interfaceJson: string | null): Promise<boolean> => {
    if (interfaceJson !== null) {
      const [mismatches = []] = await checker.compare([interfaceJson], current, jobOptions);
      return mismatches.length > 0;
    }
    const bytes = await readContent(deps, version);
    return bytes !== undefined && (await checker.check(bytes, current, jobOptions)).mismatches.length > 0;
  };

  const checkBytes = async (version: BoundVersion): Promise<CheckedModule | CheckFailure> => {
    const bytes = await readContent(deps, version);
    if (bytes === undefined) return { detail: 'The bytes are missing or damaged.' };
    try {
      return await checker.check(bytes, proposed, jobOptions);
    } catch (error) {
      if (error instanceof DomainError) return { detail: error.message };
      throw error;
    }
  };

  /** Checks the bytes once for all versions that have them, and stores the interface of the version. */
  const checkBytesOnce = async (version: BoundVersion): Promise<CheckedModule | CheckFailure> => {
    const check = checksByAddress.get(version.contentAddress) ?? checkBytes(version);
    checksByAddress.set(version.contentAddress, check);
    const checked = await check;
    if ('interfaceJson' in checked && checked.interfaceJson !== null) {
      const { interfaceJson } = checked;
      await deps.store.write((tx) => tx.putInterface(version.id, interfaceJson));
    }
    return checked;
  };

  return async (page) => {
    const interfaces = page.flatMap(({ interfaceJson }) => (interfaceJson === null ? [] : [interfaceJson]));
    const compared = interfaces.length === 0 ? [] : [...(await checker.compare(interfaces, proposed, jobOptions))];
    const results: CheckResult[] = [];
    for (const version of page) {
      const ofInterface = version.interfaceJson === null ? undefined : compared.shift();
      const checked =
        ofInterface === undefined
          ? await checkBytesOnce(version)
          : { interfaceJson: version.interfaceJson, mismatches: ofInterface };
      if ('detail' in checked) {
        results.push(checked);
        continue;
      }
      const { interfaceJson, mismatches } = checked;
      const isBroken = mismatches.length > 0 && (await isBrokenAlready(version, interfaceJson));
      results.push({ mismatches, isBrokenAlready: isBroken });
    }
    return results;
  };
}

/** @returns `undefined` if the bytes are missing or damaged */
async function readContent({ contents }: Deps, { contentAddress }: VersionRecord): Promise<Uint8Array | undefined> {
  try {
    return await (await contents.find(contentAddress))?.read();
  } catch (error) {
    if (error instanceof DamagedContentError) return undefined;
    throw error;
  }
}
