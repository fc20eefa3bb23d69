import type { Logger } from 'pino';
import { purgeExpiredAuditEvents } from '../audit/read-audit.ts';
import { type ClockCheck, recordMaintenance } from '../blobs/clock-gap.ts';
import { trimNews } from '../changes/trim-changes.ts';
import type { Settings } from '../config/settings.ts';
import { ReadOnlyError } from '../db/store.ts';
import type { Context } from '../deps.ts';
import type { Status } from './status/status.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

/** How long ended sessions, links and codes are kept, so that an old link is answered with the reason. */
const keptWhenEndedMs = 7 * dayMs;

export interface MaintenanceDeps {
  readonly context: Context;
  readonly settings: Pick<Settings, 'auditRetentionMs' | 'newsRetentionMs'>;
  readonly status: Pick<Status, 'setClockWarning'>;
  readonly log: Logger;
}

/** Deletes expired sessions, links, codes, audit events and change events. Writes nothing where nothing has expired. Never rejects. */
export async function runMaintenance(deps: MaintenanceDeps, checkClock: () => Promise<ClockCheck>): Promise<void> {
  const { context, settings, log } = deps;
  try {
    if (!isTrusted(await checkClock(), deps)) return;
    await context.store.write((tx) => tx.deleteEnded(context.clock() - keptWhenEndedMs));
    if (settings.auditRetentionMs !== undefined) {
      const deleted = await purgeExpiredAuditEvents(context, settings.auditRetentionMs);
      if (deleted > 0) log.info({ deleted }, 'audit retention: deleted events');
    }
    await trimNews(context, settings.newsRetentionMs);
    await recordMaintenance(context);
  } catch (error) {
    if (!(error instanceof ReadOnlyError)) log.error({ err: error }, 'maintenance failed'); // a read-only store is logged at the start
  }
}

/** Whether rows may be deleted by the clock. */
function isTrusted(check: ClockCheck, { status, log }: MaintenanceDeps): boolean {
  const days = Math.floor(check.gapMs / dayMs);
  const warning = `its clock is ${days} days ahead of the last maintenance, so nothing is deleted`;
  status.setClockWarning('maintenance', check.isTrusted ? undefined : warning);
  if (check.isTrusted) return true;
  log.warn(
    { days, trustedInHours: Math.ceil(check.remainingMs / hourMs) },
    'maintenance: deleted nothing, because the clock is too far ahead of the last run; is it right? tenon admin trust-clock',
  );
  return false;
}
