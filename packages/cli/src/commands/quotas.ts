import { type QuotaUse, quotaUse, warnedQuotaPercents } from '@tenon/protocol';
import { path } from '../api.ts';
import { type Command, withServer } from '../command.ts';
import type { Io } from '../io.ts';
import { resolveApp } from '../resolve.ts';
import { calling, type Session } from '../session.ts';
import { formatNumber, formatSize } from '../text.ts';

export function addQuotasCommand(program: Command, io: Io): void {
  program
    .command('quotas')
    .option('--app <app>', 'the quotas of an application, by id or name (default: those of your account)')
    .description('show the quotas of your account, or of an application, and their use')
    .use(withServer)
    .examples('tenon quotas', 'tenon quotas --app app_01j29hxk3…')
    .action(calling(io, showQuotas));
}

async function showQuotas(session: Session, { app }: { readonly app?: string }): Promise<void> {
  const { api, out } = session;
  const of = app === undefined ? '/api/v1/me' : path`/api/v1/apps/${await resolveApp(session, app)}`;
  const { quotas } = await api.get(`${of}/quotas`, quotaUse);
  out.result(quotas, () =>
    out.table(['QUOTA', 'USED', 'OF', 'LIMIT', 'COUNTS'], quotas.map(rowOf), 'There are no quotas.'),
  );
  for (const quota of quotas) {
    if (percentOf(quota) >= warnedQuotaPercents[0]) {
      out.note(`${percentOf(quota)} % of the quota ${quota.name} is used. Above it, changes are refused.`);
    }
  }
}

function percentOf({ used, limit }: QuotaUse['quotas'][number]): number {
  return Math.floor((used * 100) / limit);
}

function rowOf(quota: QuotaUse['quotas'][number]): string[] {
  const { name, what, isBytes, limit, used } = quota;
  const format = isBytes ? formatSize : formatNumber;
  return [name, format(used), `${percentOf(quota)} %`, format(limit), what];
}
