import type { RollOutListQuery, VersionId } from '@tenon/protocol';
import { type Actor, type AppAccess, type ExtensionPointAccess, requireHostRole } from '../../auth/access.ts';
import { requireStepUp } from '../../auth/confirmation.ts';
import { type PageOf, readPage } from '../../db/paging.ts';
import type { PluginKey, VersionRecord } from '../../db/records.ts';
import type { Page, Queries } from '../../db/store.ts';
import type { Deps } from '../../deps.ts';
import { DomainError, notFound } from '../../http/domain-errors.ts';
import { changePlugin } from '../plugin-changes.ts';
import { findPlugin, findVersion, type PluginTarget } from '../plugins.ts';
import { yankVersion } from '../versions.ts';
import { missingCalls, moveOn } from './advance.ts';
import { rollOutDetails } from './audit-details.ts';
import { dueAt } from './plans.ts';
import type { RollOutOfVersion } from './roll-out-queries.ts';

export interface RollOutWithGuests {
  readonly rollOut: RollOutOfVersion;
  /** The version before, with which reports are compared. */
  readonly previous: VersionRecord | undefined;
  readonly guests: Awaited<ReturnType<Queries['countGuestsOfVersion']>>;
  /** The reported calls, if the step needs more of them. */
  readonly missing: Awaited<ReturnType<typeof missingCalls>>;
}

/** Reads the roll-out of a version. @throws DomainError `not_found`, also for a version without a roll-out */
export async function readRollOut(
  deps: Deps,
  actor: Actor,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
): Promise<RollOutWithGuests> {
  const { read } = deps.store;
  return readRollOutOf(read, await findVersion(read, await findPlugin(read, actor, access, target), number));
}

async function readRollOutOf(read: Queries, { id, number, semver }: VersionRecord): Promise<RollOutWithGuests> {
  const rollOut = await read.rollOut(id);
  if (rollOut === undefined) throw notFound('roll-out');
  return withGuests(read, { ...rollOut, number, semver });
}

async function withGuests(read: Queries, rollOut: RollOutOfVersion): Promise<RollOutWithGuests> {
  return {
    rollOut,
    previous: await read.versionBefore(rollOut, rollOut.number),
    guests: await read.countGuestsOfVersion(rollOut.versionId),
    missing: rollOut.state === 'running' ? await missingCalls(read, rollOut) : undefined,
  };
}

/** The most roll-outs on a page. It is small because the guests of each are counted. */
const maxPageLength = 50;

/** Lists the roll-outs of an application, the newest version first. */
export async function listRollOuts(
  { store: { read } }: Deps,
  { app }: AppAccess,
  page: Page,
  state: RollOutListQuery['state'],
): Promise<PageOf<RollOutWithGuests>> {
  const found = await readPage(
    { ...page, limit: Math.min(page.limit ?? maxPageLength, maxPageLength) },
    ({ versionId }: { readonly versionId: VersionId }) => versionId,
    (range) => read.rollOutsOfApp(app.id, state, range),
  );
  const items: RollOutWithGuests[] = [];
  for (const rollOut of found.items) items.push(await withGuests(read, rollOut));
  return { ...found, items };
}

/** What a member does with an open roll-out. */
export type RollOutDecision =
  | { readonly action: 'pause' | 'resume' }
  | { readonly action: 'promote'; readonly isFull: boolean; readonly step?: number | undefined }
  | { readonly action: 'abort'; readonly reason: string };

const possibleStates = {
  pause: ['running'],
  resume: ['paused', 'halted'],
  promote: ['running', 'paused'],
  abort: ['running', 'paused', 'halted'],
} as const;

const pastTense = { pause: 'paused', resume: 'resumed', promote: 'promoted', abort: 'aborted' } as const;

/**
 * Pauses, resumes, promotes or aborts the roll-out of a version. To abort it yanks the version in the name of the team.
 *
 * @throws DomainError `not_found`, `insufficient_scope`, `forbidden`, `conflict` in a state without such an action, and in another step than
 *   the given one, `step_up_required` to resume or promote, because more guests get the version
 */
export function decideRollOut(
  deps: Deps,
  access: ExtensionPointAccess,
  target: PluginTarget,
  number: string,
  decision: RollOutDecision,
): Promise<RollOutWithGuests> {
  const { actor } = access;
  const { action } = decision;
  return changePlugin(
    deps,
    access,
    target,
    async ({ tx, plugin, roles, nowMs, recordAudit }) => {
      requireHostRole(roles);
      if (action === 'resume' || action === 'promote') await requireStepUp(deps, actor.sessionId, tx);
      const version = await findVersion(tx, plugin, number);
      const rollOut = await tx.rollOut(version.id);
      if (rollOut === undefined) throw notFound('roll-out');
      const { state, step } = rollOut;
      if (!possibleStates[action].some((one) => one === state)) {
        throw new DomainError('conflict', `The roll-out is ${state}, and can't be ${pastTense[action]}.`);
      }
      const details = { ...rollOutDetails(version), step };
      switch (decision.action) {
        case 'pause':
          await tx.updateRollOut(version.id, { state: 'paused', updatedAtMs: nowMs, dueAtMs: null });
          await recordAudit('roll_out.pause', { details });
          return undefined;
        case 'resume': {
          const resumed = { stepAtMs: nowMs, updatedAtMs: nowMs, dueAtMs: dueAt(rollOut.plan, step, nowMs) };
          await tx.updateRollOut(version.id, { ...resumed, state: 'running', reason: null });
          await recordAudit('roll_out.resume', { details });
          return undefined;
        }
        case 'promote': {
          if (decision.step !== undefined && decision.step !== step) {
            throw new DomainError('conflict', `The roll-out is in step ${step}, not in step ${decision.step}.`);
          }
          await recordAudit('roll_out.promote', { details: { ...details, full: decision.isFull } });
          return { selection: await moveOn(deps, tx, actor, { rollOut, version, isFull: decision.isFull }) };
        }
        case 'abort':
          return yankVersion(deps, access, { tx, nowMs, recordAudit }, version, decision.reason);
      }
    },
    async (read, key: PluginKey) => readRollOutOf(read, await findVersion(read, key, number)),
  );
}
