import type { Mismatch } from '@tenon/extension-schema/interface-check';
import type { ExtensionPointLimits, GuestId } from '@tenon/protocol';
import type { ExtensionPointAccess } from './access.ts';
import type { Context } from './context.ts';
import { DomainError } from './errors.ts';
import type { Asker, BoundVersion, CheckedModule, ModuleRequirements } from './ports.ts';
import type { ExtensionPointRecord, VersionRecord } from './records.ts';
import { DamagedContentError } from './stored-contents.ts';

/** What is tried. What is left out is as it is now. */
export interface TrialFields {
  readonly schema?: unknown;
  readonly limits?: Partial<ExtensionPointLimits>;
}

/** A version that is bound, and where. */
export interface TriedVersion {
  readonly version: VersionRecord & { readonly userName: string };
  readonly guestIds: readonly GuestId[];
  /** Whether it is bound under more guests than these. */
  readonly hasMoreGuests: boolean;
}

export interface BreakingVersion extends TriedVersion {
  readonly mismatches: readonly Mismatch[];
  /** Whether it does not fit what is demanded now either. */
  readonly isBrokenAlready: boolean;
}

export interface Trial extends ModuleRequirements {
  /** How many bound versions were looked at. */
  readonly checked: number;
  readonly breakingCount: number;
  /** The first {@link maxListed}. */
  readonly breaking: readonly BreakingVersion[];
  /** The first {@link maxListed} that could not be looked at. */
  readonly unreadable: readonly (TriedVersion & { readonly detail: string })[];
  readonly hasMoreUnreadable: boolean;
}

/** How many versions are told that would break, and that could not be looked at. */
const maxListed = 1000;

/** How many guests are told of each of them. */
const maxGuests = 100;

/** How many versions are read from the store, and compared by a thread, at a time. */
const pageSize = 100;

/**
 * Tells which of the plugins that are bound at an extension point would not fit it any more if its schema or limits were
 * changed. Nothing is changed, except that interfaces which had to be worked out from a module's bytes are kept.
 *
 * @throws DomainError `invalid_field` when the schema is none
 */
export async function trySchema(
  context: Context,
  { extensionPoint }: ExtensionPointAccess,
  fields: TrialFields,
  asker?: Asker,
): Promise<Trial> {
  const demands: ModuleRequirements = {
    schemaJson:
      fields.schema === undefined ? extensionPoint.schemaJson : await context.checker.readSchema(fields.schema, asker),
    limits: { ...extensionPoint.limits, ...fields.limits },
  };
  const lookAt = createVersionChecker(context, demands, extensionPoint, asker);
  const breaking: BreakingVersion[] = [];
  const unreadable: (TriedVersion & { detail: string })[] = [];
  let hasMoreUnreadable = false;
  let checked = 0;
  let breakingCount = 0;
  for await (const page of pagesOf(context, extensionPoint)) {
    const findings = await lookAt(page);
    for (const [at, { interfaceJson: _, ...version }] of page.entries()) {
      const finding = findings[at];
      if (finding === undefined || 'detail' in finding) {
        const detail = finding?.detail ?? 'Nobody looked at it.';
        hasMoreUnreadable = unreadable.length === maxListed;
        if (!hasMoreUnreadable) unreadable.push({ ...(await withGuests(context, version)), detail });
        continue;
      }
      checked++;
      if (finding.mismatches.length === 0) continue;
      if (++breakingCount <= maxListed) breaking.push({ ...(await withGuests(context, version)), ...finding });
    }
  }
  return { ...demands, checked, breakingCount, breaking, unreadable, hasMoreUnreadable };
}

async function* pagesOf(context: Context, { id }: ExtensionPointRecord): AsyncGenerator<BoundVersion[]> {
  let after: string | undefined;
  do {
    const page = await context.store.read.boundVersions(id, { after, limit: pageSize });
    if (page.length > 0) yield page;
    after = page.length < pageSize ? undefined : page.at(-1)?.id;
  } while (after !== undefined);
}

async function withGuests({ store }: Context, version: TriedVersion['version']): Promise<TriedVersion> {
  const guests = await store.read.guestsBoundTo([version.id], { limit: maxGuests + 1 });
  const guestIds = guests.slice(0, maxGuests).map(({ guestId }) => guestId);
  return { version, guestIds: guestIds.sort(), hasMoreGuests: guests.length > maxGuests };
}

type CheckResult = Pick<BreakingVersion, 'mismatches' | 'isBrokenAlready'> | { readonly detail: string };

/** Compares versions with what is demanded, and those that would not fit also with what was demanded up to now. */
function createVersionChecker(
  context: Context,
  demands: ModuleRequirements,
  present: ModuleRequirements,
  asker?: Asker,
) {
  const { checker } = context;
  const checkedBefore = new Map<string, Promise<CheckedModule | { readonly detail: string }>>();

  const isBrokenAlready = async (version: BoundVersion, interfaceJson: string | null): Promise<boolean> => {
    if (interfaceJson !== null) {
      const [now = []] = await checker.compare([interfaceJson], present, asker);
      return now.length > 0;
    }
    const bytes = await readContent(context, version);
    return bytes !== undefined && (await checker.check(bytes, present, asker)).mismatches.length > 0;
  };

  /** What can be said of a version whose interface is not kept; once for all versions of the same bytes. */
  const checkBytes = async (version: BoundVersion): Promise<CheckedModule | { readonly detail: string }> => {
    const bytes = await readContent(context, version);
    if (bytes === undefined) return { detail: 'The bytes are not there.' };
    try {
      return await checker.check(bytes, demands, asker);
    } catch (error) {
      if (error instanceof DomainError) return { detail: error.message };
      throw error;
    }
  };

  return async (page: readonly BoundVersion[]): Promise<CheckResult[]> => {
    const kept = page.flatMap(({ interfaceJson }) => (interfaceJson === null ? [] : [interfaceJson]));
    const compared = kept.length === 0 ? [] : [...(await checker.compare(kept, demands, asker))];
    const findings: CheckResult[] = [];
    for (const version of page) {
      let { interfaceJson } = version;
      let mismatches = interfaceJson === null ? undefined : compared.shift();
      if (mismatches === undefined) {
        const known = checkedBefore.get(version.contentAddress) ?? checkBytes(version);
        checkedBefore.set(version.contentAddress, known);
        const checked = await known;
        if ('detail' in checked) {
          findings.push(checked);
          continue;
        }
        ({ interfaceJson, mismatches } = checked);
        await storeInterface(context, version, interfaceJson);
      }
      const isBroken = mismatches.length > 0 && (await isBrokenAlready(version, interfaceJson));
      findings.push({ mismatches, isBrokenAlready: isBroken });
    }
    return findings;
  };
}

async function storeInterface(context: Context, { id }: VersionRecord, interfaceJson: string | null): Promise<void> {
  if (interfaceJson !== null) await context.store.write((tx) => tx.keepInterface([id], interfaceJson));
}

/** @returns `undefined` when the bytes are damaged, or gone */
async function readContent({ contents }: Context, { contentAddress }: VersionRecord): Promise<Uint8Array | undefined> {
  try {
    return await (await contents.find(contentAddress))?.read();
  } catch (error) {
    if (error instanceof DamagedContentError) return undefined;
    throw error;
  }
}
