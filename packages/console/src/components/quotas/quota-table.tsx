import { type QuotaUse, warnedQuotaPercents } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { Badge } from '../badge.tsx';
import { byteSize } from '../byte-size.ts';
import { count } from '../count.ts';
import { Table } from '../table.tsx';
import './quotas.css';

export type Quota = QuotaUse['quotas'][number];

/** Formats a limit or a usage of a quota. */
export function quotaText({ isBytes }: Pick<Quota, 'isBytes'>, value: number): string {
  return isBytes ? byteSize(value) : count(value);
}

const [warned, urgent] = warnedQuotaPercents;

/** The use of each quota, with a bar, and a warning if it is nearly used up. */
export function QuotaTable({
  quotas,
  actions,
}: {
  readonly quotas: readonly Quota[];
  /** The buttons of a quota. */
  readonly actions?: (quota: Quota) => ComponentChildren;
}) {
  return (
    <Table
      caption="Quotas"
      rows={quotas}
      rowKey={({ name }) => name}
      columns={[
        { header: 'Quota', cell: ({ name }) => <code>{name}</code> },
        { header: 'Counts', cell: ({ what }) => <span class="soft small">{what}</span> },
        { header: 'Used', cell: (quota) => <Use quota={quota} /> },
        {
          header: 'Limit',
          cell: (quota) => (
            <>
              {quotaText(quota, quota.limit)}
              {quota.source === 'operator' ? <span class="soft small"> set for this one</span> : null}
            </>
          ),
        },
        ...(actions === undefined ? [] : [{ header: 'Actions', isActions: true, cell: actions }]),
      ]}
    />
  );
}

function Use({ quota }: { readonly quota: Quota }) {
  const { name, used, limit } = quota;
  const percent = Math.floor((used * 100) / limit);
  const kind = percent >= urgent ? 'bad' : percent >= warned ? 'waiting' : undefined;
  return (
    <span class="quota-use">
      <progress
        class={`quota-bar quota-bar-${kind ?? 'plain'}`}
        max={limit}
        value={Math.min(used, limit)}
        aria-label={name}
      >
        {percent} %
      </progress>{' '}
      {quotaText(quota, used)} {kind === undefined ? null : <Badge kind={kind}>{percent} %</Badge>}
    </span>
  );
}
