import type { Logger } from 'pino';
import { purgeExpiredAuditEvents } from '../audit/read-audit.ts';
import { warnExpiries } from '../auth/warn-expiries.ts';
import { type ClockCheck, recordMaintenance } from '../blobs/clock-gap.ts';
import { purgeCallReports } from '../call-reports/purge-call-reports.ts';
import { purgeChanges } from '../changes/purge-changes.ts';
import type { Settings } from '../config/settings.ts';
import { ReadOnlyError } from '../db/store.ts';
import type { Deps } from '../deps.ts';
import { purgeOciUploads } from '../oci/purge-uploads.ts';
import { purgeUsage } from '../usage/purge-usage.ts';
import { purgeWebhookDeliveries } from '../webhooks/purge-deliveries.ts';
import type { Status } from './status/status.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

/** How long expired sessions, links and codes are kept, so that the error for an old link can state the reason. */
const expiredRetentionMs = 7 * dayMs;

export interface MaintenanceDeps {
  readonly deps: Deps;
  readonly settings: Pick<Settings, 'auditRetentionMs' | 'changeRetentionMs' | 'usageRetentionMs'>;
  readonly status: Pick<Status, 'setClockWarning'>;
  readonly log: Logger;
}

/** Deletes expired sessions, links, codes, uploads, audit events, change events and usage, and warns of expiries. Never rejects. */
export async function runMaintenance(services: MaintenanceDeps, checkClock: () => Promise<ClockCheck>): Promise<void> {
  const { deps, settings, log } = services;
  try {
    if (!isTrusted(await checkClock(), services)) return;
    await deps.store.write((tx) => tx.deleteExpired(deps.clock() - expiredRetentionMs));
    if (settings.auditRetentionMs !== undefined) {
      const deleted = await purgeExpiredAuditEvents(deps, settings.auditRetentionMs);
      if (deleted > 0) log.info({ deleted }, 'audit retention: deleted events');
    }
    await purgeChanges(deps, settings.changeRetentionMs);
    await purgeUsage(deps, settings.usageRetentionMs);
    await purgeWebhookDeliveries(deps);
    await purgeCallReports(deps);
    await purgeOciUploads(deps);
    await warnExpiries(deps);
    await recordMaintenance(deps);
  } catch (error) {
    if (!(error instanceof ReadOnlyError)) log.error({ err: error }, 'maintenance failed'); // a read-only store is logged at the start
  }
}

/** Whether maintenance may delete rows by age. */
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
