import type { ServerStatus } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { Time } from '../../components/time.tsx';
import { ReachBadge } from './state-badge.tsx';
import { duration, mirrorStates } from './status-model.ts';

export function Stores({
  status: { readAt, metadata, blobs, mail, webhooks, mirror, audit },
}: {
  readonly status: ServerStatus;
}) {
  const database = metadata.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  return (
    <ul class="stores">
      <li>
        <div class="node-head">
          <h3>Metadata</h3>
          <ReachBadge isReachable={metadata.isReachable} />
        </div>
        <Facts
          of={[
            ['Storage', database],
            ['Response time', duration(metadata.pingMs)],
            ['Changes of other processes', metadata.knowsCommits ? 'arriving' : 'not arriving'],
          ]}
        />
      </li>
      <li>
        <div class="node-head">
          <h3>Plugins</h3>
          <ReachBadge isReachable={blobs.isReachable} />
        </div>
        <Facts
          of={[
            ['Storage', blobs.kind === 'folder' ? 'a folder' : 'an object store'],
            ['Response time', duration(blobs.pingMs)],
          ]}
        />
      </li>
      {mirror === null ? null : (
        <li>
          <div class="node-head">
            <h3>Mirror</h3>
          </div>
          <Facts
            of={[
              ['Source', mirror.source],
              ['State', mirrorStates[mirror.state]],
              [
                'Equal to the source',
                mirror.equalAt === null ? 'never' : `${duration(msBetween(mirror.equalAt, readAt))} ago`,
              ],
              ['Binding lists', mirror.lists.toLocaleString('en')],
              ['Lists that differ', mirror.missingLists.toLocaleString('en')],
              ['Missing contents', mirror.missingContents.toLocaleString('en')],
            ]}
          />
        </li>
      )}
      {mail === null ? null : (
        <li>
          <div class="node-head">
            <h3>Mail</h3>
          </div>
          <Facts
            of={[
              ['Waiting', String(mail.queued)],
              ['Failed in 7 days', String(mail.failed)],
            ]}
          />
        </li>
      )}
      <li>
        <div class="node-head">
          <h3>Webhooks</h3>
        </div>
        <Facts
          of={[
            ['Pending', webhooks.pending.toLocaleString('en')],
            ['Oldest pending', webhooks.oldestPendingAt === null ? '–' : <Time at={webhooks.oldestPendingAt} />],
            ['Failed', webhooks.failed.toLocaleString('en')],
          ]}
        />
      </li>
      <li>
        <div class="node-head">
          <h3>Audit trail</h3>
        </div>
        <Facts
          of={[
            ['Events in the hash chain', audit.seq.toLocaleString('en')],
            ['Newest hash', <code>{audit.hash.slice(0, 12)}</code>],
            ...(audit.syslogWaiting === null ? [] : [['Waiting for syslog', String(audit.syslogWaiting)] as const]),
          ]}
        />
      </li>
    </ul>
  );
}

function msBetween(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from));
}

export function Facts({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
