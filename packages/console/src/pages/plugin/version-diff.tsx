import type { VersionDiff } from '@tenon/protocol';
import { visible } from '@tenon/trace/unsafe-characters';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { byteSize } from '../../components/byte-size.ts';
import { count, counted } from '../../components/count.ts';
import { Loaded } from '../../components/loaded.tsx';
import { useApi } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import './version-diff.css';

interface DiffProps {
  /** The version's path in the API. */
  readonly versionPath: string;
  /** The number of the other version; by default the newest other one that is bound. */
  readonly against?: number | undefined;
}

/** What differs between a version and another one. Fetched when it is opened. */
export function VersionDiffDetails({ of, ...diff }: DiffProps & { readonly of: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="version-diff" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        What differs<span class="visually-hidden"> in {of}</span>
      </summary>
      {isOpen ? <FetchedDiff {...diff} /> : null}
    </details>
  );
}

function FetchedDiff({ versionPath, against }: DiffProps) {
  const api = useApi();
  const diff = useData(
    (signal) => api.get<VersionDiff>(`${versionPath}/diff`, { query: { against }, signal }),
    [versionPath, against],
  );
  return (
    <div class="stack" aria-live="polite">
      <Loaded of={diff}>{(data) => <DiffView diff={data} />}</Loaded>
    </div>
  );
}

type Compared = VersionDiff['after'];
type Part<Item> = { readonly total: number; readonly items: readonly Item[] };

function DiffView({ diff }: { readonly diff: VersionDiff }) {
  const { against, before, after, imports, exports, functions, sections } = diff;
  const { added, removed, changed } = functions;
  const all = [...Object.values(imports), ...Object.values(exports), added, removed, changed, sections];
  const fact = (read: (module: Compared) => string) => (
    <FromTo from={before === null ? undefined : read(before)} to={read(after)} />
  );
  return (
    <>
      <p class="soft small">
        {against === null
          ? 'No other version is bound. This is the whole module.'
          : `Compared with version ${against}.`}
        {all.every(({ total }) => total === 0) ? ' The modules do not differ.' : ''}
      </p>
      <dl class="facts">
        <Fact term="Size">{fact(({ bytes }) => byteSize(bytes))}</Fact>
        <Fact term="Functions">{fact(({ functionCount }) => count(functionCount))}</Fact>
        <Fact term="Memory">{fact(({ memories }) => memories.items.map(memoryWords).join('; ') || 'none')}</Fact>
        <Fact term="Post-MVP features">{fact(({ features }) => features.join(', ') || 'none')}</Fact>
      </dl>
      <ChangeList title="Imports" of={imports}>
        <Changes kind={kindOf(before)} of={imports.added} show={declaration} />
        <Changes kind="removed" of={imports.removed} show={declaration} />
      </ChangeList>
      <ChangeList title="Exports" of={exports}>
        <Changes kind={kindOf(before)} of={exports.added} show={declaration} />
        <Changes kind="removed" of={exports.removed} show={declaration} />
        <Changes
          kind="changed"
          of={exports.changed}
          show={({ before: was, ...is }) => <FromTo from={typeWords(was)} to={typeWords(is)} />}
        />
      </ChangeList>
      <ChangeList
        title="Functions"
        of={{ added, removed, changed }}
        note={before && `${counted(functions.unchanged, 'function')} unchanged.`}
      >
        <Changes
          kind="changed"
          of={changed}
          show={({ bytes, bytesBefore }) => <FromTo from={byteSize(bytesBefore)} to={byteSize(bytes)} />}
        />
        <Changes kind={kindOf(before)} of={added} show={({ bytes }) => byteSize(bytes)} />
        <Changes kind="removed" of={removed} show={({ bytes }) => byteSize(bytes)} />
      </ChangeList>
      <ChangeList title="Sections" of={{ sections }}>
        <Changes
          kind={({ bytes, bytesBefore }) =>
            bytesBefore === null ? kindOf(before) : bytes === null ? 'removed' : 'changed'
          }
          of={sections}
          show={({ bytes, bytesBefore }) => (
            <FromTo from={bytes === null ? undefined : sizeOf(bytesBefore)} to={byteSize(bytes ?? bytesBefore ?? 0)} />
          )}
        />
      </ChangeList>
    </>
  );
}

/** A part of a version that is compared with nothing is neither added nor removed. */
function kindOf(before: Compared | null): Kind {
  return before === null ? 'part' : 'added';
}

function Fact({ term, children }: { readonly term: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function FromTo({ from, to }: { readonly from: string | undefined; readonly to: string }) {
  if (from === undefined || from === to) return <>{to}</>;
  return (
    <>
      {from} <span aria-hidden="true">→</span>
      <span class="visually-hidden">becomes</span> <strong>{to}</strong>
    </>
  );
}

function ChangeList(props: {
  readonly title: string;
  readonly of: Readonly<Record<string, { readonly total: number }>>;
  readonly note?: string | null;
  readonly children: ComponentChildren;
}) {
  const { title, of, note, children } = props;
  const isEmpty = Object.values(of).every(({ total }) => total === 0);
  if (isEmpty && !note) return null;
  return (
    <div class="version-diff-part">
      <h4>{title}</h4>
      {isEmpty ? null : <ul>{children}</ul>}
      {note ? <p class="soft small">{note}</p> : null}
    </div>
  );
}

type Kind = 'added' | 'removed' | 'changed' | 'part';
const marks = { added: '+', removed: '−', changed: '±', part: '' } as const satisfies Record<Kind, string>;

function Changes<Item extends { readonly name: string }>(props: {
  readonly kind: Kind | ((item: Item) => Kind);
  readonly of: Part<Item>;
  readonly show: (item: Item) => ComponentChildren;
}) {
  const { kind, of, show } = props;
  const kindOfItem = typeof kind === 'function' ? kind : () => kind;
  const kindOfMore = typeof kind === 'function' ? 'part' : kind;
  const more = of.total - of.items.length;
  return (
    <>
      {of.items.map((item, at) => (
        <li key={at} class={`change-${kindOfItem(item)}`}>
          <Mark kind={kindOfItem(item)} />
          <code>{visible(item.name)}</code> <span class="soft">{show(item)}</span>
        </li>
      ))}
      {more === 0 ? null : (
        <li class={`change-${kindOfMore}`}>
          <Mark kind={kindOfMore} />
          and {count(more)} more
        </li>
      )}
    </>
  );
}

function Mark({ kind }: { readonly kind: Kind }) {
  if (kind === 'part') return null;
  return (
    <>
      <span class="change-mark" aria-hidden="true">
        {marks[kind]}
      </span>
      <span class="visually-hidden">{kind}: </span>
    </>
  );
}

function declaration(item: { readonly kind: string; readonly type?: string }): string {
  return typeWords(item);
}

function typeWords({ kind, type }: { readonly kind: string; readonly type?: string }): string {
  return type ?? kind;
}

function sizeOf(bytes: number | null): string | undefined {
  return bytes === null ? undefined : byteSize(bytes);
}

function memoryWords({ minimumPages, maximumPages, pageBytes }: Compared['memories']['items'][number]): string {
  const most = maximumPages === undefined ? '' : `, at most ${byteSize(maximumPages * pageBytes)}`;
  return `${byteSize(minimumPages * pageBytes)}${most}`;
}
