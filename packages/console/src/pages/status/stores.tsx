import type { RowCount, ServerStatus } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { byteSize } from '../../components/byte-size.ts';
import { count, counted } from '../../components/count.ts';
import { Time } from '../../components/time.tsx';
import { ReachBadge } from './state-badge.tsx';
import { duration } from './status-model.ts';

export function Stores({ status: { metadata, blobs } }: { readonly status: ServerStatus }) {
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
            ['Kept in', metadata.version === null ? database : `${database} ${metadata.version}`],
            ['Answers in', duration(metadata.pingMs)],
            ['Size', metadata.bytes === null ? 'not known' : byteSize(metadata.bytes)],
            ['Schema', metadata.schemaVersion === null ? 'not known' : String(metadata.schemaVersion)],
            ["Others' changes", metadata.knowsCommits ? 'are known' : 'are not known'],
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
            ['Kept in', blobs.kind === 'folder' ? 'a folder' : 'an object store'],
            ['Answers in', duration(blobs.pingMs)],
          ]}
        />
      </li>
    </ul>
  );
}

/** How much there is, and when it was counted. */
export function Counts({ counts }: { readonly counts: ServerStatus['counts'] }) {
  if (counts === null) return <p class="soft">It could not be counted so far.</p>;
  const { contentBytes } = counts;
  const size = `${contentBytes.isEstimate ? 'about ' : ''}${byteSize(contentBytes.value)}`;
  return (
    <>
      <Facts
        of={[
          ['Accounts', about(counts.accounts)],
          ['Applications', about(counts.apps)],
          ['Extension points', about(counts.extensionPoints)],
          ['Guests', about(counts.guests)],
          ['Plugins', about(counts.plugins)],
          ['Versions', about(counts.versions)],
          ['Bindings', about(counts.bindings)],
          ['Contents', `${about(counts.contents)} (${size})`],
        ]}
      />
      <p class="soft small">
        Counted <Time at={counts.countedAt} />.
      </p>
    </>
  );
}

function about({ value, isEstimate }: RowCount): string {
  return `${isEstimate ? 'about ' : ''}${count(value)}`;
}

/** When the house's own works were last done. */
export function Chores({ chores: { collect, verify, backup } }: { readonly chores: ServerStatus['chores'] }) {
  return (
    <Facts
      of={[
        [
          'Unused bytes collected',
          collect === null ? (
            'never'
          ) : (
            <>
              <Time at={collect.endedAt} />: {counted(collect.deleted, 'content')} deleted,{' '}
              {byteSize(collect.deletedBytes)}; {counted(collect.waiting, 'content')} in grace
            </>
          ),
        ],
        [
          'All data verified',
          verify === null ? (
            'never'
          ) : (
            <>
              <Time at={verify.endedAt} />: {verify.faults === 0 ? 'no faults' : counted(verify.faults, 'fault')}
            </>
          ),
        ],
        [
          'Archive written',
          backup === null ? (
            'never'
          ) : (
            <>
              <Time at={backup.endedAt} />: {byteSize(backup.bytes)}
            </>
          ),
        ],
      ]}
    />
  );
}

function Facts({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) {
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
