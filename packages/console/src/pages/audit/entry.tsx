import type { ComponentChildren } from 'preact';
import { LineDiff } from '../../components/line-diff-view.tsx';
import { Link } from '../../components/link.tsx';
import { browserName } from '../account/browser-name.ts';
import { type AuditEntry, describeEntry, detailName, detailText, isChange, type ValueChange } from './audit-text.ts';
import type { AuditFilter } from './filter.ts';
import { Author, Event } from './sentence.tsx';

const timeFormat = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const exactFormat = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' });

interface EntryProps {
  readonly entry: AuditEntry;
  readonly appId: string | undefined;
  readonly linkTo: (change: Partial<AuditFilter>) => string;
}

/** An audit event as a sentence, with its details below. */
export function EntryView({ entry, appId, linkTo }: EntryProps) {
  const at = new Date(entry.at);
  const sentence = describeEntry(entry, appId);
  const { verb, thing, rest } = sentence;
  return (
    <li class="audit-entry">
      <time dateTime={entry.at} title={exactFormat.format(at)}>
        {timeFormat.format(at)}
      </time>
      <div>
        <p>
          <Author entry={entry} isOwn={appId === undefined} /> <Event sentence={sentence} />
          {typeof entry.details.reason === 'string' ? <q class="audit-reason">{entry.details.reason}</q> : null}
        </p>
        <details>
          <summary>
            <span class="visually-hidden">
              Details of what was done at {timeFormat.format(at)}: {verb} {thing?.text} {rest}{' '}
            </span>
            <span aria-hidden="true">Details</span>
            <Means entry={entry} />
          </summary>
          <Details entry={entry} appId={appId} linkTo={linkTo} />
        </details>
      </div>
    </li>
  );
}

/** The token or the browser of the event. */
function Means({ entry: { via } }: { readonly entry: AuditEntry }) {
  if (via === null) return null;
  const words = via.id.startsWith('ses_') ? `in ${browserName(via.name)}` : `with the token ${via.name ?? via.id}`;
  return <span class="audit-means"> · {words}</span>;
}

function Details({ entry, appId, linkTo }: EntryProps) {
  const { details, target, via, user } = entry;
  const guestKeys = 'guestKeys' in entry ? Object.values(entry.guestKeys) : [];
  return (
    <div class="audit-details">
      <dl>
        {Object.entries(details).map(([name, value]) => (
          <Fact key={name} name={detailName(name)}>
            {isChange(value) ? <ChangeView change={value} /> : <Value value={value} />}
          </Fact>
        ))}
        {guestKeys.length === 0 ? null : (
          <Fact name={guestKeys.length === 1 ? 'guest key' : 'guest keys'}>{guestKeys.join(', ')}</Fact>
        )}
        {'address' in entry && entry.address !== null ? <Fact name="address">{entry.address}</Fact> : null}
        <Fact name="action">{entry.action}</Fact>
        {target.id === via?.id ? null : <Fact name={target.kind.replaceAll('_', ' ')}>{target.id}</Fact>}
        {user === null ? null : <Fact name="done by">{user.id}</Fact>}
        {via === null ? null : <Fact name={via.id.startsWith('ses_') ? 'session' : 'token'}>{via.id}</Fact>}
        <Fact name="event">{entry.id}</Fact>
        <Fact name="time">{entry.at}</Fact>
      </dl>
      <p class="audit-links">
        <Link to={linkTo({ target: target.id })}>All events of this {target.kind.replaceAll('_', ' ')}</Link>
        {user === null || appId === undefined ? null : (
          <Link to={linkTo({ user: user.id })}>All events by {user.name === '' ? 'this user' : user.name}</Link>
        )}
        {'appId' in entry && entry.appId !== null ? <Link to={`/apps/${entry.appId}`}>View application</Link> : null}
      </p>
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function ChangeView({ change: { before, after } }: { readonly change: ValueChange }) {
  const [from, to] = [detailText(before), detailText(after)];
  if (`${from}${to}`.includes('\n')) return <LineDiff title="Changes" from={from} to={to} />;
  return (
    <div class="audit-change">
      <div>
        <span class="soft small">before</span>
        <Value value={before} />
      </div>
      <div>
        <span class="soft small">after</span>
        <Value value={after} />
      </div>
    </div>
  );
}

function Value({ value }: { readonly value: unknown }) {
  const text = detailText(value);
  if (!text.includes('\n')) return <span>{text}</span>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <pre tabIndex={0}>{text}</pre>
  );
}
